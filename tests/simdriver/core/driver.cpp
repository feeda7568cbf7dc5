#include "tests/simdriver/core/driver.h"

#include <pthread.h>

#include <cstdlib>

namespace lastref::simdriver {
namespace {

// Registered at the first successful cuInit, like the real driver's: what is registered later runs earlier, and statics
// built before it die after it. Callbacks that are still due never run.
void tear_down() {
    driver_state& state = driver();
    if (state.life == phase::forked) return;
    std::unique_lock held(state.lock);
    state.life = phase::torn_down;
    state.work.stop(held);
}

// A child has none of the threads and may have been forked while the lock was held: nothing works in it any more.
void forked_child() {
    driver_state& state = driver();
    if (state.life == phase::initialised) state.life = phase::forked;
}

// The thread's default stream takes no more work; what is on it completes, and the legacy stream still waits for it.
void end_thread_in(context& in, std::uint64_t thread) {
    auto const found = in.per_thread.find(thread);
    if (found == in.per_thread.end()) return;
    if (found->second->last && !found->second->last->done) in.left_behind.push_back(found->second->last);
    in.per_thread.erase(found);
}

}  // namespace

driver_state& driver() {
    static auto* const state = new driver_state;
    return *state;
}

CUresult initialise() {
    driver_state& state = driver();
    if (state.life == phase::initialised) return CUDA_SUCCESS;
    state.work.configure(state.set.callback, state.set.seed);
    for (int ordinal = 0; ordinal < state.set.devices; ++ordinal) {
        state.devices.push_back(std::make_unique<device>());
        state.devices.back()->ordinal = ordinal;
    }
    state.life = phase::initialised;
    pthread_atfork(nullptr, nullptr, forked_child);
    std::atexit(tear_down);
    return CUDA_SUCCESS;
}

void thread_gone(thread_state& ending) {
    driver_state& state = driver();
    if (state.life != phase::initialised) return;
    std::unique_lock const held(state.lock);
    state.contexts.for_each([&ending](context_ptr const& each) { end_thread_in(*each, ending.id); });
    ending.stack.clear();
}

}  // namespace lastref::simdriver
