#include "collector/preload/python/memory.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "collector/preload/unwind/thread_stack.h"

namespace lastref::python {

// Sandboxes may forbid the call. Then the kernel is asked whether the page is there, and the copy is made without it.
bool asked_memory::read_page(std::byte* to, std::uintptr_t address) const {
    iovec const here{to, page};
    iovec const there{reinterpret_cast<void*>(address), page};
    int const saved = errno;
    bool done = syscall(SYS_process_vm_readv, process_, &here, 1, &there, 1, 0) == static_cast<long>(page);
    bool const forbidden = !done && (errno == EPERM || errno == ENOSYS || errno == EACCES);
    errno = saved;
    if (forbidden && unwind::page_is_readable(address)) done = own_memory().copy(to, address, page);
    return done;
}

std::byte const* asked_memory::page_at(std::uintptr_t address) {
    for (auto const& one : pages_) {
        if (one.address == address) return one.bytes;
    }
    kept_page& place = pages_[next_];
    next_ = (next_ + 1) % kept;
    place.address = read_page(place.bytes, address) ? address : 0;
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
