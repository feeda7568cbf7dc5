// The program polls: at its own safe points it asks whether a wake-up is due.
#pragma once

#include <atomic>
#include <cstddef>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

// Threads     wake: any. poll: the threads where clean-ups may run.
// Errors      Never refuses.
class manual_waker final : public waker {
  public:
    bool wake(deferred_cleanup_queue&) noexcept override {
        due_.store(true, std::memory_order_relaxed);
        return true;
    }

    bool is_due() const noexcept { return due_.load(std::memory_order_relaxed); }

    // Delivers the wake-up if one is due. Returns how many items were cleaned up. Relaxed: the queue's word orders the
    // items.
    std::size_t poll(deferred_cleanup_queue& queue) noexcept {
        return is_due() && due_.exchange(false, std::memory_order_relaxed) ? queue.drain() : 0;
    }

  private:
    std::atomic<bool> due_{false};
};

}  // namespace lastref::reference
