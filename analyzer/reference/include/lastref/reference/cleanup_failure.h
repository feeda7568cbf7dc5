// Clean-ups that failed, told where nothing can be thrown: in destructors and in a drain.
#pragma once

#include <atomic>
#include <cstdio>

#include "lastref/reference/driver.h"

namespace lastref::reference {

struct cleanup_failure {
    status result;
    char const* result_name;
    char const* what;           // the operation, "free_async"
    unsigned long long object;  // pointer or handle that stays allocated
    stream_handle stream;
    context_handle context;
};

using cleanup_failure_handler = void (*)(cleanup_failure const&) noexcept;

// To stderr. Silent once the driver is torn down: then it has taken everything back, and nothing is left to do.
inline void print_cleanup_failure(cleanup_failure const& failure) noexcept {
    if (failure.result == status::deinitialized) return;
    std::fprintf(stderr, "CUDA clean-up failed: %s of 0x%llx on stream %p in context %p: %s\n", failure.what,
                 failure.object, static_cast<void*>(failure.stream), static_cast<void*>(failure.context),
                 failure.result_name);
}

inline std::atomic<cleanup_failure_handler> cleanup_failure_handler_in_use{&print_cleanup_failure};

// Threads     Any, at any time. The handler must not throw; it may be called on any thread.
inline cleanup_failure_handler set_cleanup_failure_handler(cleanup_failure_handler handler) noexcept {
    return cleanup_failure_handler_in_use.exchange(handler, std::memory_order_acq_rel);
}

inline void report_cleanup_failure(cleanup_failure const& failure) noexcept {
    cleanup_failure_handler_in_use.load(std::memory_order_acquire)(failure);
}

}  // namespace lastref::reference
