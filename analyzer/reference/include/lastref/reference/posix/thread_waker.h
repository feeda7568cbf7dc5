// A thread of its own that does nothing but clean up.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

// The thread has no current CUDA context and its own per-thread default stream: clean-ups must carry a complete recipe
// (deallocation_recipe.h).
//
// Ownership   Lives as long as the process; the thread runs from start() to stop().
// Threads     wake: any. start and stop: one thread, once each.
// Errors      start throws std::system_error when there is no thread to be had; until it has succeeded, and after stop,
// wake
//             refuses. A wake-up that races with stop may be accepted and never delivered: stop the queue first.
class thread_waker final : public waker {
  public:
    thread_waker() noexcept { ::sem_init(&due_, 0, 0); }

    // sem_post, not a condition variable: it takes no lock, so that a callback never waits for the consumer.
    bool wake(deferred_cleanup_queue&) noexcept override {
        int const kept = errno;
        bool const accepted = runs_.load(std::memory_order_acquire) && ::sem_post(&due_) == 0;
        errno = kept;
        return accepted;
    }

    // Begins to deliver. Wake-ups that were refused before are made good.
    void start(deferred_cleanup_queue& queue) {
        thread_ = std::thread([this, &queue] { deliver(queue); });
        runs_.store(true, std::memory_order_release);
        queue.retry();
    }

    // Ends the thread after the clean-up that it is in. To be called after queue.stop() and not from a clean-up.
    void stop() noexcept {
        if (!runs_.exchange(false, std::memory_order_acq_rel)) return;
        ends_.store(true, std::memory_order_release);
        ::sem_post(&due_);
        thread_.join();
    }

  private:
    void deliver(deferred_cleanup_queue& queue) noexcept {
        for (;;) {
            while (::sem_wait(&due_) != 0) {  // interrupted by a signal
            }
            if (ends_.load(std::memory_order_acquire)) return;
            queue.drain();
        }
    }

    ::sem_t due_;
    std::atomic<bool> runs_{false};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace lastref::reference
