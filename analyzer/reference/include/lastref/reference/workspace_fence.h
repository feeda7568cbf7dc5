// Orders the uses of one piece of memory that is lent out again and again.
//
// Rule        When a use ends, an event is recorded on its stream; the next use waits for the event if it runs on
// another stream, and
//             whoever frees the memory waits for it on the host. Another thread's per-thread default stream is another
//             stream.
// Without it  Two streams work in the same scratch memory at the same time, or it is freed under a running copy.
//             lastref: unordered-free, pinned-free-in-flight.
#pragma once

#include <thread>
#include <utility>

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/deallocation_recipe.h"
#include "lastref/reference/driver.h"

namespace lastref::reference {

// Ownership   Owns its event, made at the first end of a use.
// Threads     One at a time (the lease itself is what is guarded by the pool's lock).
// Errors      Throws driver_error; the destructor reports.
class workspace_fence {
  public:
    explicit workspace_fence(driver& calls) noexcept : driver_(&calls) {}
    workspace_fence(workspace_fence&& other) noexcept
        : driver_(other.driver_),
          event_(std::exchange(other.event_, nullptr)),
          stream_(other.stream_),
          thread_(other.thread_) {}
    workspace_fence& operator=(workspace_fence&&) = delete;

    ~workspace_fence() {
        if (!event_) return;
        auto const result = driver_->destroy_event(event_);
        if (result != status::success)
            report_cleanup_failure({result, driver_->name_of(result), "destroying a fence's event",
                                    reinterpret_cast<unsigned long long>(event_), stream_, nullptr});
    }

    // The work given to `stream` up to now is the use that ends.
    void end_use(stream_handle stream) {
        if (!event_) throw_unless_success(*driver_, driver_->create_event(event_), "creating a fence's event");
        throw_unless_success(*driver_, driver_->record_event(event_, stream), "recording a fence's event");
        stream_ = resolve_null_stream(*driver_, stream);
        thread_ = std::this_thread::get_id();
    }

    // What is given to `stream` from now on runs after the use that ended last.
    void begin_use(stream_handle stream) {
        if (!event_ || is_same_stream(resolve_null_stream(*driver_, stream))) return;
        throw_unless_success(*driver_, driver_->wait_event(stream, event_), "waiting for a fence's event");
    }

    // Waits on the host until the last use is over.
    status synchronize() noexcept { return event_ ? driver_->synchronize_event(event_) : status::success; }

  private:
    // A context's legacy stream is not told from another context's, hence the wait there too: it costs nothing when it
    // is the same.
    bool is_same_stream(stream_handle stream) const noexcept {
        if (stream != stream_ || stream == legacy_stream()) return false;
        return stream != per_thread_stream() || thread_ == std::this_thread::get_id();
    }

    driver* driver_;
    event_handle event_ = nullptr;
    stream_handle stream_ = nullptr;
    std::thread::id thread_;
};

}  // namespace lastref::reference
