// A memory pool for a library's own allocations, one for each device, for the life of the process.
//
// Rule        A library allocates from a pool of its own, not from the device's default pool, which belongs to the
// application; the pool
//             keeps what is freed, so that a steady state allocates nothing; and it is never destroyed.
// Without it  Steady-state work allocates from the driver again and again; or a static destructor frees after the
// driver's
//             teardown. lastref: steady-state-allocation, pool-retention, shutdown-release.
#pragma once

#include <cstddef>

#include "lastref/reference/driver.h"
#include "lastref/reference/process_lifetime.h"
#include "lastref/reference/stream_ordered_buffer.h"

namespace lastref::reference {

// Ownership   The pool is left to the driver's teardown: put the resource into a process_lifetime. Buffers may outlive
// every
//             other object of the library.
// Threads     Any, after construction.
// Errors      Throws driver_error.
class pool_resource {
  public:
    pool_resource(driver& calls, int device) : driver_(calls), device_(device) {
        throw_unless_success(calls, calls.create_pool(pool_, device), "creating a pool");
    }
    pool_resource(pool_resource const&) = delete;
    pool_resource& operator=(pool_resource const&) = delete;
    // No destructor that destroys the pool, on purpose.

    stream_ordered_buffer allocate(std::size_t bytes, stream_handle stream) {
        return stream_ordered_buffer::allocate(driver_, bytes, pool_, stream);
    }

    int device() const noexcept { return device_; }
    pool_handle handle() const noexcept { return pool_; }

  private:
    driver& driver_;
    int const device_;
    pool_handle pool_ = nullptr;
};

}  // namespace lastref::reference
