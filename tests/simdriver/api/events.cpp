// Events.
#include <unistd.h>

#include <cstring>

#include "tests/simdriver/api/common.h"
#include "tests/simdriver/core/shared_event.h"

namespace lastref::simdriver {
namespace {

constexpr unsigned known_flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult find(CUevent handle, event_ptr& out) {
    out = driver().events.find(handle);
    if (!out) return CUDA_ERROR_INVALID_HANDLE;
    bool const alive = out->owner->alive && out->owner->id == out->owner_life;
    return alive ? out->owner->fault->load() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult find_uncaptured(call const& c, CUevent handle, event_ptr& out) {
    SIM_TRY(find(handle, out));
    if (!out->captured) return unsafe(c);
    auto const broken = out->captured_in.lock();
    if (!broken) return CUDA_ERROR_INVALID_VALUE;  // its capture has ended
    broken->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult record(call const& c, CUevent handle, CUstream token, unsigned flags) {
    event_ptr what;
    stream_ptr on;
    SIM_TRY(find(handle, what));
    SIM_TRY(resolve(c, token, on));
    if (on->owner.lock() != what->owner) return CUDA_ERROR_INVALID_HANDLE;
    if (!on->capturing) what->recorded_on = on;
    if (!on->capturing || flags & CU_EVENT_RECORD_EXTERNAL) return enqueue(c, on, record_work{what});
    if (on->capturing->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    capture_record(*on, *what);
    return CUDA_SUCCESS;
}

// What the opaque bytes of an interprocess event's handle hold.
struct event_place {
    std::uint64_t magic;
    int process, file;
};
constexpr std::uint64_t event_magic = 0x746e65766d6973;

bool complete(event const& what) {
    if (what.shared) return what.shared->complete(what.shared->newest());
    return !what.recorded || what.recorded->done;
}

void wait_for_event(call const& c, event const& what) {
    if (operation_ptr const work = what.recorded; work && !what.shared) return wait_for(c, work);
    while (!complete(what)) driver().progress.wait_for(c.lock, std::chrono::microseconds(100));
}

bool timed(event const& what) {
    return !(what.flags & CU_EVENT_DISABLE_TIMING) && what.recorded;
}

CUresult elapsed(float* milliseconds, CUevent from, CUevent to) {
    event_ptr first, second;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(from, first));
    SIM_TRY(find(to, second));
    if (!timed(*first) || !timed(*second)) return CUDA_ERROR_INVALID_HANDLE;
    if (!first->recorded->done || !second->recorded->done) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(second->recorded->end - first->recorded->end).count();
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuEventCreate(call const& c, CUevent* out, unsigned int flags) {
    context_ptr current;
    if (!out || flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    auto made = std::make_shared<event>();
    made->owner = current;
    made->owner_life = current->id;
    made->flags = flags;
    if (flags & CU_EVENT_INTERPROCESS) made->shared = shared_event::make();
    *out = driver().events.add(made);
    return CUDA_SUCCESS;
}

CUresult cuIpcGetEventHandle(call const&, CUipcEventHandle* out, CUevent handle) {
    event_ptr what;
    SIM_TRY(find(handle, what));
    if (!out || !what->shared) return CUDA_ERROR_INVALID_VALUE;
    event_place const place{event_magic, getpid(), what->shared->file()};
    static_assert(sizeof place <= sizeof *out);
    *out = {};
    std::memcpy(out, &place, sizeof place);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(call const& c, CUevent* out, CUipcEventHandle handle) {
    context_ptr current;
    event_place place{};
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    std::memcpy(&place, &handle, sizeof place);
    if (place.magic != event_magic) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<event>();
    made->owner = current;
    made->owner_life = current->id;
    made->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    made->shared = shared_event::open(place.process, place.file);
    if (!made->shared) return CUDA_ERROR_MAP_FAILED;
    *out = driver().events.add(made);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(call const&, CUevent handle) {
    event_ptr what;
    SIM_TRY(find(handle, what));
    driver().events.remove(handle);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(call const& c, CUevent handle, CUstream token) {
    return record(c, handle, token, 0);
}

CUresult cuEventRecordWithFlags(call const& c, CUevent handle, CUstream token, unsigned int flags) {
    if (flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) return CUDA_ERROR_INVALID_VALUE;
    return record(c, handle, token, flags);
}

CUresult cuEventQuery(call const& c, CUevent handle) {
    event_ptr what;
    SIM_TRY(find_uncaptured(c, handle, what));
    return complete(*what) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(call const& c, CUevent handle) {
    event_ptr what;
    SIM_TRY(find_uncaptured(c, handle, what));
    wait_for_event(c, *what);
    if (auto const on = what->recorded_on.lock()) settle_pools(on.get());
    return *what->owner->fault;
}

CUresult cuEventElapsedTime(call const&, float* milliseconds, CUevent from, CUevent to) {
    return elapsed(milliseconds, from, to);
}

}  // namespace api
}  // namespace lastref::simdriver
