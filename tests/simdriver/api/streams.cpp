// Streams, host functions and callbacks, memory operations on streams.
#include <algorithm>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;

CUresult create(call const& c, CUstream* out, unsigned flags, int priority) {
    context_ptr current;
    if (!out || flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    auto const made =
        make_stream(*current, stream::role::created, flags, std::clamp(priority, greatest_priority, least_priority));
    *out = driver().streams.add(made);
    current->streams.push_back(made);
    return CUDA_SUCCESS;
}

// What happened to the stream's context while its work was waited for.
CUresult fault_of(stream const& on) {
    auto const owner = on.owner.lock();
    return owner ? owner->fault->load() : CUDA_SUCCESS;
}

CUresult add_batch(call const& c, CUstream token, std::vector<CUstreamBatchMemOpParams> operations, unsigned flags) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    auto const owner = on->owner.lock();
    return enqueue(c, on, batch_work{owner ? owner->handle : nullptr, std::move(operations), flags});
}

template <class Value>
CUresult wait_value(call const& c, CUstream token, CUdeviceptr address, Value value, unsigned flags) {
    if (!address || address % sizeof(Value)) return CUDA_ERROR_INVALID_VALUE;
    CUstreamBatchMemOpParams one{};
    one.operation = sizeof(Value) == 4 ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WAIT_VALUE_64;
    one.waitValue.address = address;
    one.waitValue.value64 = value;
    one.waitValue.flags = flags;
    return add_batch(c, token, {one}, 0);
}

template <class Value>
CUresult write_value(call const& c, CUstream token, CUdeviceptr address, Value value, unsigned flags) {
    if (!address || address % sizeof(Value)) return CUDA_ERROR_INVALID_VALUE;
    CUstreamBatchMemOpParams one{};
    one.operation = sizeof(Value) == 4 ? CU_STREAM_MEM_OP_WRITE_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_64;
    one.writeValue.address = address;
    one.writeValue.value64 = value;
    one.writeValue.flags = flags;
    return add_batch(c, token, {one}, 0);
}

}  // namespace

namespace api {

CUresult cuStreamCreate(call const& c, CUstream* out, unsigned int flags) {
    return create(c, out, flags, 0);
}

CUresult cuStreamCreateWithPriority(call const& c, CUstream* out, unsigned int flags, int priority) {
    return create(c, out, flags, priority);
}

CUresult cuStreamDestroy(call const& c, CUstream handle) {
    stream_ptr on;
    bool const token = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (token) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(resolve(c, handle, on));
    drop_capture(*on);
    driver().streams.remove(handle);
    if (auto const owner = on->owner.lock()) {
        std::erase(owner->streams, on);
        leave_behind(*owner, *on);
    }
    settle_pools(on.get());
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(call const& c, CUstream token) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));
    SIM_TRY(unsafe(c));
    return idle(*on) ? fault_of(*on) : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(call const& c, CUstream token) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));
    SIM_TRY(unsafe(c));
    synchronize(c, *on);
    return fault_of(*on);
}

CUresult cuStreamWaitEvent(call const& c, CUstream token, CUevent handle, unsigned int flags) {
    stream_ptr on;
    event_ptr const what = driver().events.find(handle);
    if (!what) return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    bool const external = flags & CU_EVENT_WAIT_EXTERNAL;
    if ((on->capturing && !external) || what->captured) return capture_wait(on, *what);
    return enqueue(c, on, wait_work{what});
}

CUresult cuStreamGetId(call const& c, CUstream token, unsigned long long* id) {
    stream_ptr on;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    *id = on->id;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(call const& c, CUstream token, unsigned int* flags) {
    stream_ptr on;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    *flags = on->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(call const& c, CUstream token, int* priority) {
    stream_ptr on;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    *priority = on->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(call const& c, CUstream token, CUcontext* ctx) {
    stream_ptr on;
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    auto const owner = on->owner.lock();
    *ctx = owner ? owner->handle : nullptr;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(call const& c, CUstream token, CUcontext* ctx, CUgreenCtx* green) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    if (green) *green = on->green;
    return cuStreamGetCtx(c, token, ctx);
}

CUresult cuStreamGetAttribute(call const& c, CUstream token, CUstreamAttrID which, CUstreamAttrValue* value) {
    stream_ptr on;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    *value = on->attributes[which];
    if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = on->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(call const& c, CUstream token, CUstreamAttrID which, CUstreamAttrValue const* value) {
    stream_ptr on;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    on->attributes[which] = *value;
    if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) on->priority = value->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(call const& c, CUstream to, CUstream from) {
    stream_ptr target, source;
    SIM_TRY(resolve(c, to, target));
    SIM_TRY(resolve(c, from, source));
    target->attributes = source->attributes;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(call const& c, CUstream token, CUgreenCtx* out) {
    stream_ptr on;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    *out = on->green;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(call const& c, CUstream token, CUdevice* dev) {
    stream_ptr on;
    if (!dev) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    auto const owner = on->owner.lock();
    *dev = owner ? owner->owner->ordinal : 0;
    return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(call const& c, CUstream token, CUhostFn function, void* data) {
    stream_ptr on;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    return enqueue(c, on, host_work{function, data});
}

CUresult cuStreamAddCallback(call const& c, CUstream token, CUstreamCallback callback, void* data, unsigned int flags) {
    stream_ptr on;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));
    auto const work = std::make_shared<operation>();
    work->where = lane::callback;
    // It is called after a fault of the context too, and told of it; a host function is not.
    work->in_any_case = true;
    work->body = [=, fault = on->owner.lock()->fault] { callback(token, *fault, data); };
    submit(*on, work);
    return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(call const& c, CUstream token, CUdeviceptr address, std::size_t, unsigned int) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));
    auto const held = memory().at(address);
    if (!held || held->kind != memory_kind::managed) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(c, on, empty_work{});
}

CUresult cuStreamWaitValue32(call const& c, CUstream token, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    return wait_value(c, token, address, value, flags);
}

CUresult cuStreamWaitValue64(call const& c, CUstream token, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    return wait_value(c, token, address, value, flags);
}

CUresult cuStreamWriteValue32(call const& c, CUstream token, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
    return write_value(c, token, address, value, flags);
}

CUresult cuStreamWriteValue64(call const& c, CUstream token, CUdeviceptr address, cuuint64_t value,
                              unsigned int flags) {
    return write_value(c, token, address, value, flags);
}

CUresult cuStreamBatchMemOp(call const& c, CUstream token, unsigned int count, CUstreamBatchMemOpParams* batch,
                            unsigned int flags) {
    if (!batch || count > 256) return CUDA_ERROR_INVALID_VALUE;
    return add_batch(c, token, {batch, batch + count}, flags);
}

}  // namespace api
}  // namespace lastref::simdriver
