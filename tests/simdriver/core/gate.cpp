#include "tests/simdriver/core/gate.h"

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {
namespace {

// Pure functions: they work before cuInit, inside callbacks and after teardown.
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

bool works_uninitialised(symbol_id id) {
    return id == symbol_id::cuInit || id == symbol_id::cuGetExportTable;
}

CUresult refused_by_phase(symbol_id id) {
    switch (driver().life.load()) {
        case phase::torn_down:
            return CUDA_ERROR_DEINITIALIZED;
        case phase::forked:
            return CUDA_ERROR_NOT_INITIALIZED;
        case phase::fresh:
            return works_uninitialised(id) ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
        case phase::initialised:
            break;
    }
    return this_thread().internal ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

CUresult injected(symbol_id id) {
    driver_state& state = driver();
    if (state.set.failures.empty()) return CUDA_SUCCESS;
    unsigned long const number = ++state.calls[info(id).name];
    for (auto const& failure : state.set.failures)
        if (failure.name == info(id).name && (failure.number == 0 || failure.number == number)) return failure.result;
    return CUDA_SUCCESS;
}

}  // namespace

gate::gate(symbol_id id) : refusal_(always_works(id) ? CUDA_SUCCESS : refused_by_phase(id)) {
    if (refusal_ != CUDA_SUCCESS) return;
    // A forked child may have inherited the lock held; what always works needs no lock.
    if (always_works(id))
        lock_ = std::unique_lock(driver().lock, std::defer_lock);
    else
        lock_ = std::unique_lock(driver().lock);
    if (!always_works(id)) refusal_ = injected(id);
    context_.emplace(lock_, this_thread(), info(id).streams == stream_zero::per_thread);
}

gate::~gate() = default;

}  // namespace lastref::simdriver
