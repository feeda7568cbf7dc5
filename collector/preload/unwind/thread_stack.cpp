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
// Where a stack that was left for another one still may grow without waiting for the end of a pause.
constexpr std::uintptr_t usual_growth = std::uintptr_t{256} << 10;
// A thread that runs on another stack goes on to do so for a while. With the try that failed they make primes, so that
// a thread that changes its stack in some rhythm is not met on the same one every time.
constexpr std::uint32_t pause_while_known = 256;
constexpr std::uint32_t pause_while_unknown = 16;

// Emulators may look at the operation first, and would call everything readable.
bool kernel_answers() {
    constexpr std::uintptr_t never_mapped = 8;
    return !page_is_readable(never_mapped);
}

bool all_readable(std::uintptr_t from, std::uintptr_t to) {
    if (to - from > longest_proof || !kernel_answers()) return false;
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
    std::uintptr_t const from = frame & ~(page - 1);
    bool const just_below = frame < stack.begin && stack.begin - frame <= usual_growth;
    if (!just_below && stack.pause != 0) {
        --stack.pause;
        return false;
    }
    // The thread's stack has grown below what is known of it.
    if (frame < stack.begin && all_readable(from, stack.begin)) {
        stack.begin = from;
        return true;
    }
    std::uintptr_t const ends[] = {control_block(), getauxval(AT_EXECFN)};
    for (std::uintptr_t const end : ends) {
        if (frame >= end || !all_readable(from, end)) continue;
        stack = {from, end, 0};
        return true;
    }
    stack.pause = stack.end != 0 ? pause_while_known : pause_while_unknown;
    return false;
}

}  // namespace lastref::unwind
