// Brings a deferred_cleanup_queue to a Qt event loop.
//
// Not by QCoreApplication::postEvent or a queued signal: both allocate and take a lock, which a callback of CUDA must
// not. A write to an eventfd does neither, and a QSocketNotifier brings it into the loop.
#pragma once

#include <QSocketNotifier>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/posix/eventfd_waker.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

// Ownership   Lives as long as the process. `attach` makes a notifier that belongs to `parent` (the application object,
// say) and ends
//             with it; without one, wake-ups are kept until the next attach.
// Threads     wake: any. attach: the thread that runs the loop; clean-ups run there, in its event loop.
// Errors      As eventfd_waker.
class event_loop_waker final : public waker {
  public:
    bool wake(deferred_cleanup_queue& queue) noexcept override { return descriptor_.wake(queue); }

    QSocketNotifier* attach(deferred_cleanup_queue& queue, QObject* parent) {
        auto* const notifier = new QSocketNotifier(descriptor_.descriptor(), QSocketNotifier::Read, parent);
        QObject::connect(notifier, &QSocketNotifier::activated, notifier,
                         [this, &queue] { descriptor_.deliver(queue); });
        return notifier;
    }

  private:
    eventfd_waker descriptor_;
};

}  // namespace lastref::reference
