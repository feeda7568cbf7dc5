// Contexts: created, primary and current.
#include <algorithm>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

constexpr unsigned known_flags = 0x1ff;

CUresult create(call const& c, CUcontext* out, unsigned flags, CUdevice dev) {
    if (!out || flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    device* const owner = find_device(dev);
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    context_ptr const made = make_context(*owner, flags);
    c.self.stack.push_back(made);
    *out = made->handle;
    return CUDA_SUCCESS;
}

// The context that an explicit handle names, or the current one for null.
CUresult context_or_current(call const& c, CUcontext handle, context_ptr& out) {
    if (!handle) return current_context(c, out);
    out = driver().contexts.find(handle);
    if (!out) return CUDA_ERROR_INVALID_CONTEXT;
    return out->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// A context that is gone may be made current all the same; calls that need it then say that it is destroyed.
CUresult living_or_gone(CUcontext handle, context_ptr& out) {
    out = driver().contexts.find(handle);
    if (out) return CUDA_SUCCESS;
    auto const gone = driver().gone_contexts.find(handle);
    if (gone == driver().gone_contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
    out = gone->second;
    return CUDA_SUCCESS;
}

std::size_t default_limit(CUlimit which) {
    switch (which) {
        case CU_LIMIT_STACK_SIZE:
            return 1024;
        case CU_LIMIT_PRINTF_FIFO_SIZE:
            return (8 << 20) + (256 << 10);
        case CU_LIMIT_MALLOC_HEAP_SIZE:
            return 8 << 20;
        case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
            return 2;
        case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
            return 2048;
        default:
            return 0;
    }
}

void end_primary(call const& c, device& owner) {
    if (owner.primary && owner.primary->alive) end_context(c, *owner.primary);
}

}  // namespace

namespace api {

CUresult cuCtxCreate(call const& c, CUcontext* out, unsigned int flags, CUdevice dev) {
    return create(c, out, flags, dev);
}

CUresult cuCtxCreate(call const& c, CUcontext* out, CUexecAffinityParam*, int, unsigned int flags, CUdevice dev) {
    return create(c, out, flags, dev);
}

CUresult cuCtxCreate(call const& c, CUcontext* out, CUctxCreateParams*, unsigned int flags, CUdevice dev) {
    return create(c, out, flags, dev);
}

CUresult cuCtxDestroy(call const& c, CUcontext ctx) {
    context_ptr const ending = driver().contexts.find(ctx);
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    if (!ending || ending->primary) return CUDA_ERROR_INVALID_CONTEXT;
    end_context(c, *ending);
    driver().contexts.remove(ctx);
    driver().gone_contexts[ctx] = ending;
    if (c.self.current() == ending) c.self.stack.pop_back();
    return CUDA_SUCCESS;
}

// An older way to count uses of a context. Each attach needs a detach beside the one that ends the context.
CUresult cuCtxAttach(call const& c, CUcontext* out, unsigned int flags) {
    context_ptr current;
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    if (current->primary) return CUDA_ERROR_INVALID_CONTEXT;
    ++current->attached;
    *out = current->handle;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(call const& c, CUcontext ctx) {
    context_ptr const of = driver().contexts.find(ctx);
    if (!of || of != c.self.current()) return CUDA_ERROR_INVALID_CONTEXT;
    return --of->attached ? CUDA_SUCCESS : cuCtxDestroy(c, ctx);
}

CUresult cuCtxPushCurrent(call const& c, CUcontext ctx) {
    context_ptr pushed;
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(context_or_current(c, ctx, pushed));
    c.self.stack.push_back(pushed);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(call const& c, CUcontext* out) {
    context_ptr const popped = c.self.current();
    if (!popped) return CUDA_ERROR_INVALID_CONTEXT;
    c.self.stack.pop_back();
    put(out, popped->handle);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(call const& c, CUcontext ctx) {
    context_ptr wanted;
    if (ctx) SIM_TRY(living_or_gone(ctx, wanted));
    if (!c.self.stack.empty()) c.self.stack.pop_back();
    if (wanted) c.self.stack.push_back(wanted);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(call const& c, CUcontext* out) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    context_ptr const current = c.self.current();
    *out = current ? current->handle : nullptr;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(call const& c, CUdevice* dev) {
    context_ptr current;
    if (!dev) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    *dev = current->owner->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(call const& c, CUdevice* dev, CUcontext ctx) {
    context_ptr of;
    if (!dev) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(context_or_current(c, ctx, of));
    *dev = of->owner->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(call const& c, unsigned int* flags) {
    context_ptr current;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    *flags = current->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(call const& c, unsigned int flags) {
    context_ptr current;
    if (flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    current->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(call const& c, CUcontext ctx, unsigned long long* id) {
    context_ptr of;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(context_or_current(c, ctx, of));
    *id = of->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(call const& c, CUcontext ctx, unsigned int* version) {
    context_ptr of;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(context_or_current(c, ctx, of));
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(call const& c, std::size_t* value, CUlimit which) {
    context_ptr current;
    if (!value || which >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    auto const set = current->limits.find(which);
    *value = set == current->limits.end() ? default_limit(which) : set->second;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(call const& c, CUlimit which, std::size_t value) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    current->limits[which] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(call const& c, int* least, int* greatest) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    put(least, 0);
    put(greatest, -5);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(call const& c, CUfunc_cache* config) {
    context_ptr current;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(call const& c, CUfunc_cache) {
    context_ptr current;
    return current_context(c, current);
}

CUresult cuCtxSynchronize(call const& c) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    synchronize(c, *current);
    return *current->fault;
}

CUresult cuCtxSynchronize(call const& c, CUcontext ctx) {
    context_ptr of;
    SIM_TRY(context_or_current(c, ctx, of));
    SIM_TRY(unsafe(c));
    synchronize(c, *of);
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(call const& c, CUcontext peer, unsigned int flags) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    context_ptr const other = driver().contexts.find(peer);
    if (flags || !other) return other ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
    if (other->owner == current->owner) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    bool const added = current->peers.insert(other->owner->ordinal).second;
    return added ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(call const& c, CUcontext peer) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    context_ptr const other = driver().contexts.find(peer);
    if (!other) return CUDA_ERROR_INVALID_CONTEXT;
    return current->peers.erase(other->owner->ordinal) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

CUresult cuDevicePrimaryCtxRetain(call const&, CUcontext* out, CUdevice dev) {
    device* const owner = find_device(dev);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    if (owner->fault != CUDA_SUCCESS) return owner->fault;
    *out = retain_primary(*owner)->handle;
    ++owner->primary_references;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(call const& c, CUdevice dev) {
    device* const owner = find_device(dev);
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    if (!owner->primary_references) return CUDA_ERROR_INVALID_CONTEXT;
    if (--owner->primary_references == 0) end_primary(c, *owner);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(call const& c, CUdevice dev) {
    device* const owner = find_device(dev);
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    end_primary(c, *owner);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(call const&, CUdevice dev, unsigned int* flags, int* active) {
    device const* const owner = find_device(dev);
    if (any_null(flags, active)) return CUDA_ERROR_INVALID_VALUE;
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    *flags = owner->primary_flags;
    *active = owner->primary && owner->primary->alive;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(call const&, CUdevice dev, unsigned int flags) {
    device* const owner = find_device(dev);
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    if (flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
    owner->primary_flags = flags | CU_CTX_MAP_HOST;
    if (owner->primary) owner->primary->flags = owner->primary_flags;
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
