// The driver as a whole: its lock, its tables, its life from cuInit to teardown.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/objects.h"
#include "tests/simdriver/core/scheduler.h"
#include "tests/simdriver/core/settings.h"
#include "tests/simdriver/core/thread_state.h"

namespace lastref::simdriver {

enum class phase { fresh, initialised, torn_down, forked };

struct driver_state {
    std::mutex lock;
    std::condition_variable progress;  // notified whenever an operation completes
    std::atomic<phase> life{phase::fresh};
    settings set = read_settings();
    scheduler work{lock, progress};
    std::vector<std::unique_ptr<device>> devices;
    std::unordered_map<std::string, unsigned long> calls;  // counted only while failures are injected
    std::uint64_t last_context_id = 0, last_stream_id = 0;

    handle_table<CUcontext, context> contexts;
    std::unordered_map<CUcontext, context_ptr> gone_contexts;  // by the handle that they had; the last one of each
    handle_table<CUstream, stream> streams;
    handle_table<CUevent, event> events;
};

// Made at the first use and never destroyed: threads and static destructors may call until the very end.
driver_state& driver();

// cuInit: makes the devices and registers the teardown with atexit, once.
CUresult initialise();

// A thread has ended: its contexts are no longer current there, its per-thread streams take no more work.
void thread_gone(thread_state& ending);

}  // namespace lastref::simdriver
