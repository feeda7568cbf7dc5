#include "collector/preload/unwind/thread_stack.h"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace lastref::unwind {
namespace {

constexpr std::uintptr_t page = 4096;
// Stacks deeper than this at their first walk are not proved: it would take some milliseconds.
constexpr std::uintptr_t longest_proof = std::uintptr_t{64} << 20;
// A thread that runs on another stack goes on to do so for a while.
constexpr std::uint32_t pause_after_failure = 255;

bool all_readable(std::uintptr_t from, std::uintptr_t to) {
    if (to - from > longest_proof) return false;
    for (std::uintptr_t at = from; at < to; at += page) {
        if (!page_is_readable(at)) return false;
    }
    return true;
}

std::uintptr_t control_block() {
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

}  // namespace

// rt_sigprocmask reads the new mask before it finds that it is not asked to do anything sensible with it: EFAULT for
// what cannot be read, EINVAL else. Nothing changes, and no sandbox forbids it.
bool page_is_readable(std::uintptr_t address) {
    constexpr int no_operation = -1;
    constexpr std::size_t kernel_mask_size = 8;
    int const saved = errno;
    long const result = syscall(SYS_rt_sigprocmask, no_operation, address, nullptr, kernel_mask_size);
    bool const readable = result == -1 && errno == EINVAL;
    errno = saved;
    return readable;
}

bool prove(thread_stack& stack, std::uintptr_t frame) {
    if (stack.pause != 0) {
        --stack.pause;
        return false;
    }
    std::uintptr_t const from = frame & ~(page - 1);
    // The thread's stack has grown below what is known of it.
    if (stack.end != 0 && frame < stack.begin && all_readable(from, stack.begin)) {
        stack.begin = from;
        return true;
    }
    std::uintptr_t const ends[] = {control_block(), getauxval(AT_EXECFN)};
    for (std::uintptr_t const end : ends) {
        if (frame >= end || !all_readable(from, end)) continue;
        stack = {from, end, 0};
        return true;
    }
    stack.pause = pause_after_failure;
    return false;
}

}  // namespace lastref::unwind
