#include "collector/preload/python/memory.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "collector/preload/unwind/thread_stack.h"

namespace lastref::python {
namespace {

bool is_forbidden(int error) {
    return error == EPERM || error == ENOSYS || error == EACCES;
}

// Sandboxes may forbid the call. Then the kernel is asked whether the page is there, and the copy is made without it.
bool copy_after_asking(void* to, std::uintptr_t from, std::size_t size) {
    for (std::uintptr_t at = from & ~(page - 1); at < from + size; at += page) {
        if (!unwind::page_is_readable(at)) return false;
    }
    return own_memory().copy(to, from, size);
}

bool kernel_copies(iovec const* to, iovec const* from, std::uint32_t count, std::size_t bytes) {
    return syscall(SYS_process_vm_readv, getpid(), to, count, from, count, 0) == static_cast<long>(bytes);
}

}  // namespace

bool asked_memory::copy_all(piece const* pieces, std::uint32_t count) {
    constexpr std::uint32_t at_once = 64;
    int const saved = errno;
    for (std::uint32_t first = 0; first < count; first += at_once) {
        iovec to[at_once], from[at_once];
        std::uint32_t const here = count - first < at_once ? count - first : at_once;
        std::size_t bytes = 0;
        for (std::uint32_t i = 0; i < here; ++i) {
            piece const& one = pieces[first + i];
            if (!plausible(one.from, one.size)) return false;
            to[i] = {one.to, one.size};
            from[i] = {reinterpret_cast<void*>(one.from), one.size};
            bytes += one.size;
        }
        bool done = kernel_copies(to, from, here, bytes);
        bool const forbidden = !done && is_forbidden(errno);
        for (std::uint32_t i = 0; forbidden && i < here; ++i) {
            done = copy_after_asking(to[i].iov_base, pieces[first + i].from, to[i].iov_len);
            if (!done) break;
        }
        errno = saved;
        if (!done) return false;
    }
    return true;
}

std::byte const* asked_memory::page_at(std::uintptr_t address) {
    for (auto const& one : pages_) {
        if (one.address == address) return one.bytes;
    }
    kept_page& place = pages_[next_];
    next_ = (next_ + 1) % kept;
    piece const whole{place.bytes, address, page};
    place.address = copy_all(&whole, 1) ? address : 0;
    return place.address != 0 ? place.bytes : nullptr;
}

bool asked_memory::copy(void* to, std::uintptr_t from, std::size_t size) {
    if (!plausible(from, size)) return false;
    if (from >= stack_begin_ && from < stack_end_ && size <= stack_end_ - from)
        return own_memory().copy(to, from, size);
    auto* out = static_cast<std::byte*>(to);
    while (size != 0) {
        std::size_t const offset = from % page;
        std::size_t const here = size < page - offset ? size : page - offset;
        std::byte const* const bytes = page_at(from - offset);
        if (bytes == nullptr) return false;
        memcpy(out, bytes + offset, here);
        out += here;
        from += here;
        size -= here;
    }
    return true;
}

}  // namespace lastref::python
