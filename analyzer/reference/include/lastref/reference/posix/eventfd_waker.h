// For event loops that wait on file descriptors (epoll, libuv, asyncio's add_reader): a wake-up makes a descriptor
// readable.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

// Ownership   Owns the descriptor until the process ends: closing it earlier would let a late callback write into a
// file of
//             somebody else that got the same number.
// Threads     wake: any. deliver: the loop's thread.
// Errors      The constructor throws std::system_error. wake refuses when the descriptor does not take it.
class eventfd_waker final : public waker {
  public:
    eventfd_waker() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }

    // Wait for this to be readable, then call deliver().
    int descriptor() const noexcept { return descriptor_; }

    // Keeps errno: the callback may run inside a call of the program.
    bool wake(deferred_cleanup_queue&) noexcept override {
        int const kept = errno;
        std::uint64_t const one = 1;
        bool written;
        do {
            written = ::write(descriptor_, &one, sizeof one) == sizeof one;
        } while (!written && errno == EINTR);
        errno = kept;
        return written;
    }

    // Takes the wake-up off the descriptor and drains. Returns how many items were cleaned up; 0 when none was due, as
    // after the spurious readiness that event loops report now and then.
    std::size_t deliver(deferred_cleanup_queue& queue) noexcept {
        std::uint64_t wakeups = 0;
        return ::read(descriptor_, &wakeups, sizeof wakeups) == sizeof wakeups ? queue.drain() : 0;
    }

  private:
    int const descriptor_;
};

}  // namespace lastref::reference
