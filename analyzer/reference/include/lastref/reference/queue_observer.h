// Hears what a deferred_cleanup_queue does: the seam at which the annotation protocol (nvtx/) and tests listen.
#pragma once

#include <cstddef>

namespace lastref::reference {

class cleanup_item;
class deferred_cleanup_queue;

// Ownership   Lives as long as the queue. A queue without an observer pays one predictable branch for it.
// Threads     The first three are called on the producers' threads, hence under the rules of CUDA's callback: no
// allocation, no
//             call of CUDA, no waiting. The drain_ ones are called on the consumer's thread.
class queue_observer {
  public:
    // Before the item is in the queue, so that nothing is heard of its clean-up earlier. `item` is a name, not to be
    // read.
    virtual void enqueued(deferred_cleanup_queue const& queue, cleanup_item const* item) noexcept = 0;
    virtual void schedule_begin(deferred_cleanup_queue const& queue) noexcept = 0;
    virtual void schedule_end(deferred_cleanup_queue const& queue, bool accepted) noexcept = 0;
    // A batch: everything that was in the queue at one moment. Begin and end of batches never overlap for one queue. A
    // batch may begin before schedule_end of the wake-up that it answers.
    virtual void drain_begin(deferred_cleanup_queue const& queue) noexcept = 0;
    virtual void cleaning(deferred_cleanup_queue const& queue, cleanup_item const* item) noexcept = 0;
    virtual void drain_end(deferred_cleanup_queue const& queue, std::size_t cleaned) noexcept = 0;
    virtual void declined(deferred_cleanup_queue const& queue) noexcept = 0;
    // Ends it: what is in the queue from now on is leaked on purpose.
    virtual void stopped(deferred_cleanup_queue const& queue) noexcept = 0;

  protected:
    ~queue_observer() = default;
};

}  // namespace lastref::reference
