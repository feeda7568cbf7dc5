// What the behaviour of an entry point knows about the call it serves.
#pragma once

#include <mutex>

namespace lastref::simdriver {

struct thread_state;

struct call {
    std::unique_lock<std::mutex>& lock;  // the driver's lock, held; waits give it up
    thread_state& self;                  // the calling thread
    bool per_thread;                     // stream 0 means the per-thread default stream
};

}  // namespace lastref::simdriver
