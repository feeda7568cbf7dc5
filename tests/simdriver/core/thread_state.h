// What the driver keeps per thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"

namespace lastref::simdriver {

struct context;
using context_ptr = std::shared_ptr<context>;

struct thread_state {
    std::uint64_t id = 0;                    // unique for the life of the process
    std::vector<context_ptr> stack;          // the last is current
    bool internal = false;                   // one of the driver's own threads, or another while it runs a destructor
    bool in_call = false;                    // between the gate and the return of a call
    std::vector<std::function<void()>> due;  // destructors that the call under way runs before it returns
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

    context_ptr current() const { return stack.empty() ? nullptr : stack.back(); }
};

// Made at the thread's first call. It is freed after the destructors of thread_local objects have run, which may still
// call the driver; a call that comes later still finds a fresh state.
thread_state& this_thread();

}  // namespace lastref::simdriver
