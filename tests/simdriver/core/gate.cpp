#include "tests/simdriver/core/gate.h"

#include <utility>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {
namespace {

// Pure functions: they work before cuInit, inside callbacks and in a forked child, though not after teardown.
bool always_works(symbol_id id) {
    switch (id) {
        case symbol_id::cuGetErrorName:
        case symbol_id::cuGetErrorString:
        case symbol_id::cuGetProcAddress:
        case symbol_id::cuGetProcAddress_v2:
        case symbol_id::cuDriverGetVersion:
            return true;
        default:
            return false;
    }
}

// Measured: what a child says that was forked after cuInit. Nothing has an effect.
CUresult in_forked_child(symbol_id id) {
    switch (id) {
        case symbol_id::cuStreamSynchronize:
        case symbol_id::cuStreamSynchronize_ptsz:
        case symbol_id::cuUserObjectRelease:
            return CUDA_SUCCESS;
        case symbol_id::cuMemAllocAsync:
        case symbol_id::cuMemAllocAsync_ptsz:
            return CUDA_ERROR_OUT_OF_MEMORY;
        default:
            return CUDA_ERROR_NOT_INITIALIZED;
    }
}

bool works_uninitialised(symbol_id id) {
    return id == symbol_id::cuInit || id == symbol_id::cuGetExportTable;
}

// Measured: what the driver does not refuse inside destructors and host functions, though its documentation forbids
// every call there. Whatever is not known to work is refused.
bool works_in_callback(symbol_id id) {
    switch (id) {
        case symbol_id::cuInit:
        case symbol_id::cuStreamIsCapturing:
        case symbol_id::cuStreamIsCapturing_ptsz:
        case symbol_id::cuStreamGetFlags:
        case symbol_id::cuStreamGetFlags_ptsz:
        case symbol_id::cuStreamQuery:
        case symbol_id::cuStreamQuery_ptsz:
        case symbol_id::cuStreamSynchronize:
        case symbol_id::cuStreamSynchronize_ptsz:
        case symbol_id::cuStreamDestroy_v2:
        case symbol_id::cuStreamWaitEvent:
        case symbol_id::cuStreamWaitEvent_ptsz:
        case symbol_id::cuEventQuery:
        case symbol_id::cuEventRecord:
        case symbol_id::cuEventRecord_ptsz:
        case symbol_id::cuEventSynchronize:
        case symbol_id::cuEventDestroy_v2:
        case symbol_id::cuUserObjectCreate:
        case symbol_id::cuUserObjectRetain:
        case symbol_id::cuUserObjectRelease:
        case symbol_id::cuMemsetD8Async:
        case symbol_id::cuMemsetD8Async_ptsz:
        case symbol_id::cuLaunchHostFunc:
        case symbol_id::cuLaunchHostFunc_ptsz:
        case symbol_id::cuGraphLaunch:
        case symbol_id::cuGraphLaunch_ptsz:
            return true;
        default:
            return false;
    }
}

std::optional<CUresult> answered_in_callback(symbol_id id) {
    if (!this_thread().internal || works_in_callback(id)) return std::nullopt;
    return CUDA_ERROR_NOT_PERMITTED;
}

std::optional<CUresult> answered_by_phase(symbol_id id) {
    phase const now = driver().life;
    if (now == phase::torn_down) return CUDA_ERROR_DEINITIALIZED;
    if (always_works(id)) return std::nullopt;
    if (now == phase::forked) return in_forked_child(id);
    if (now == phase::fresh && !works_uninitialised(id)) return CUDA_ERROR_NOT_INITIALIZED;
    return answered_in_callback(id);
}

std::optional<CUresult> injected(symbol_id id) {
    driver_state& state = driver();
    if (state.set.failures.empty()) return std::nullopt;
    unsigned long const number = ++state.calls[info(id).name];
    for (auto const& failure : state.set.failures)
        if (failure.name == info(id).name && (failure.number == 0 || failure.number == number)) return failure.result;
    return std::nullopt;
}

void run_due(thread_state& self) {
    bool const within_callback = std::exchange(self.internal, true);
    for (auto const& each : std::exchange(self.due, {})) each();
    self.internal = within_callback;
}

}  // namespace

gate::gate(symbol_id id) : answer_(answered_by_phase(id)) {
    if (answer_) return;
    // A forked child may have inherited the lock held; what always works needs no lock.
    if (always_works(id))
        lock_ = std::unique_lock(driver().lock, std::defer_lock);
    else
        lock_ = std::unique_lock(driver().lock);
    if (!always_works(id)) answer_ = injected(id);
    thread_state& self = this_thread();
    self.in_call = lock_.owns_lock();
    context_.emplace(lock_, self, info(id).streams == stream_zero::per_thread);
}

gate::~gate() {
    if (!context_) return;
    thread_state& self = context_->self;
    self.in_call = false;
    if (self.due.empty()) return;
    lock_.unlock();
    run_due(self);
}

}  // namespace lastref::simdriver
