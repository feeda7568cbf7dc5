// Pinned host memory for copies, freed only when they are done.
//
// Rule        cuMemFreeHost does not wait for pending copies: who frees pinned memory waits for the last stream that
// used it. Without it  The copy reads or writes memory that is somebody else's by then. lastref: pinned-free-in-flight.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/driver.h"
#include "lastref/reference/workspace_fence.h"

namespace lastref::reference {

// Ownership   Owns the memory. Keep it with a workspace, not for one call: allocating pinned memory synchronizes.
// Threads     One at a time; destroyed outside CUDA's callbacks, since destroying waits.
// Errors      Throws driver_error; the destructor reports. Where the wait fails, the memory is leaked rather than freed
// in use.
class pinned_staging {
  public:
    pinned_staging(driver& calls, std::size_t bytes) : driver_(&calls), bytes_(bytes), fence_(calls) {
        throw_unless_success(calls, calls.allocate_pinned(memory_, bytes), "allocating pinned memory");
    }
    pinned_staging(pinned_staging&& other) noexcept
        : driver_(other.driver_),
          memory_(std::exchange(other.memory_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          fence_(std::move(other.fence_)) {}
    pinned_staging& operator=(pinned_staging&&) = delete;
    ~pinned_staging() {
        if (!memory_) return;
        auto result = fence_.synchronize();
        if (result == status::success) result = driver_->free_pinned(memory_);
        if (result == status::success) return;
        report_cleanup_failure({result, driver_->name_of(result), "freeing pinned memory",
                                reinterpret_cast<unsigned long long>(memory_), nullptr, nullptr});
    }

    std::span<std::byte> bytes() noexcept { return {static_cast<std::byte*>(memory_), bytes_}; }

    // Before and after giving a copy to `stream`.
    void begin_use(stream_handle stream) { fence_.begin_use(stream); }
    void end_use(stream_handle stream) { fence_.end_use(stream); }

  private:
    driver* driver_;
    void* memory_ = nullptr;
    std::size_t bytes_;
    workspace_fence fence_;
};

}  // namespace lastref::reference
