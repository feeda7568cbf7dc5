// What brings a deferred_cleanup_queue to the thread where clean-ups may run.
#pragma once

namespace lastref::reference {

class deferred_cleanup_queue;

// Ownership   Lives as long as its queue, which is as long as the process.
// Threads     wake() is called from any thread, CUDA's internal callback thread included, but never twice at a time for
// one
//             queue: the queue keeps at most one wake-up outstanding.
// Errors      A waker may refuse. It must refuse rather than wait.
class waker {
  public:
    // Asks for one call of queue.drain(), soon, on a thread where clean-ups may run. True: exactly one such call will
    // follow (it may begin before wake() has returned), or one of queue.decline() where the wake-up ended in a place
    // where nothing may be cleaned up. False: none will follow; the queue keeps every item and asks again at the next
    // enqueue or retry. Allocates nothing, calls nothing of CUDA, waits for nothing.
    virtual bool wake(deferred_cleanup_queue& queue) noexcept = 0;

  protected:
    ~waker() = default;
};

}  // namespace lastref::reference
