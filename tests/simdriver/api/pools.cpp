// Stream-ordered allocation and memory pools.
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

pool_ptr pool_of(context const& owner, CUmemoryPool handle) {
    return handle ? pools().find(handle) : current_pool(*owner.owner);
}

// In a capture an allocation becomes a node, and the memory the graph's.
CUresult capture_alloc(stream& on, pool const& from, std::size_t bytes, CUdeviceptr* out) {
    alloc_work what;
    what.params.poolProps = from.props;
    what.params.bytesize = bytes;
    what.memory = make_graph_memory(*from.owner, bytes);
    if (!what.memory) return CUDA_ERROR_OUT_OF_MEMORY;
    what.params.dptr = what.memory->base;
    *out = what.params.dptr;
    return capture_work(on, what);
}

CUresult alloc_async(call const& c, CUdeviceptr* out, std::size_t bytes, CUmemoryPool handle, CUstream token) {
    stream_ptr on;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    auto const owner = on->owner.lock();
    pool_ptr const from = owner ? pool_of(*owner, handle) : nullptr;
    if (!from || from->imported) return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) {
        *out = 0;
        return CUDA_SUCCESS;
    }
    if (on->capturing) return capture_alloc(*on, *from, bytes, out);
    SIM_TRY(implicit_dependency(*on));
    SIM_TRY(unsafe(c));
    std::uintptr_t base = 0;
    SIM_TRY(allocate_from(from, *on, bytes, base));
    *out = base;
    return CUDA_SUCCESS;
}

CUresult capture_free(stream& on, CUdeviceptr address) {
    if (on.capturing->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    graph_memory_ptr const memory = find_graph_memory(address);
    if (!memory || !take_free(*on.capturing->into, *memory)) return CUDA_ERROR_INVALID_VALUE;
    return capture_work(on, free_work{address, memory});
}

CUresult free_graph_memory(stream& on, CUdeviceptr address) {
    auto const freed = std::make_shared<operation>();
    let_go(find_graph_memory(address), freed);
    submit(on, freed);
    return CUDA_SUCCESS;
}

// Plain memory may be freed like this too: it waits for the device first, as cuMemFree does.
CUresult free_plain_memory(call const& c, allocation_ptr const& gone) {
    synchronize(c, *gone->owner);
    if (memory().at(gone->base) != gone) return CUDA_ERROR_INVALID_VALUE;  // freed by another thread meanwhile
    release(*gone);
    return CUDA_SUCCESS;
}

CUresult write_attribute(pool& of, CUmemPool_attribute which, void const* value) {
    switch (which) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
            of.reuse_events = *static_cast<int const*>(value);
            break;
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
            of.reuse_opportunistic = *static_cast<int const*>(value);
            break;
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            of.reuse_dependencies = *static_cast<int const*>(value);
            break;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            of.threshold = *static_cast<cuuint64_t const*>(value);
            break;
        // The high-water marks can be set to zero only, which starts them again.
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            if (*static_cast<cuuint64_t const*>(value)) return CUDA_ERROR_INVALID_VALUE;
            of.reserved_high = of.reserved;
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            if (*static_cast<cuuint64_t const*>(value)) return CUDA_ERROR_INVALID_VALUE;
            of.used_high = of.used;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult read_attribute(pool const& of, CUmemPool_attribute which, void* value) {
    auto const number = [value](std::uint64_t what) { *static_cast<cuuint64_t*>(value) = what; };
    auto const flag = [value](int what) { *static_cast<int*>(value) = what; };
    switch (which) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
            flag(of.reuse_events);
            break;
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
            flag(of.reuse_opportunistic);
            break;
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            flag(of.reuse_dependencies);
            break;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            number(of.threshold);
            break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
            number(of.reserved);
            break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            number(of.reserved_high);
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            number(of.used);
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            number(of.used_high);
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult find(CUmemoryPool handle, pool_ptr& out) {
    out = pools().find(handle);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult device_of(CUmemLocation const* location, CUmemAllocationType type, device*& out) {
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    out = find_device(location->id);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

// The device that backs a new pool; one of host memory is backed by the first.
CUresult backing_of(CUmemPoolProps const& props, device*& out) {
    bool const on_host = props.location.type == CU_MEM_LOCATION_TYPE_HOST;
    constexpr int known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    if (props.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || props.handleTypes & ~known) return CUDA_ERROR_INVALID_VALUE;
    if (!on_host && props.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    out = find_device(on_host ? 0 : props.location.id);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult select(device* of, CUmemoryPool handle) {
    pool_ptr chosen;
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    SIM_TRY(find(handle, chosen));
    if (chosen->owner != of || chosen->imported) return CUDA_ERROR_INVALID_VALUE;
    of->current_pool = chosen;
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuMemAllocAsync(call const& c, CUdeviceptr* out, std::size_t bytes, CUstream token) {
    return alloc_async(c, out, bytes, nullptr, token);
}

CUresult cuMemAllocFromPoolAsync(call const& c, CUdeviceptr* out, std::size_t bytes, CUmemoryPool from,
                                 CUstream token) {
    if (!from) return CUDA_ERROR_INVALID_VALUE;
    return alloc_async(c, out, bytes, from, token);
}

// Without a current context a default-stream token means nothing: 201, and the memory stays allocated.
CUresult cuMemFreeAsync(call const& c, CUdeviceptr address, CUstream token) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(implicit_dependency(*on));
    if (on->capturing) return address ? capture_free(*on, address) : CUDA_SUCCESS;
    SIM_TRY(unsafe(c));
    if (!address) return CUDA_SUCCESS;
    allocation_ptr const gone = memory().at(address);
    if (gone && gone->kind == memory_kind::graph) return free_graph_memory(*on, address);
    if (gone && gone->kind == memory_kind::device && !gone->permanent) return free_plain_memory(c, gone);
    if (!gone || gone->kind != memory_kind::pool) return CUDA_ERROR_INVALID_VALUE;
    free_ordered(gone, on);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(call const& c, CUmemoryPool* out, CUmemPoolProps const* props) {
    device* owner = nullptr;
    if (any_null(out, props)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(backing_of(*props, owner));
    SIM_TRY(unsafe(c));
    *out = make_pool(*owner, *props)->handle;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(call const& c, CUmemoryPool handle) {
    pool_ptr gone;
    SIM_TRY(unsafe(c));  // measured: before the handle is looked at
    SIM_TRY(find(handle, gone));
    if (gone->is_default) return CUDA_ERROR_INVALID_VALUE;
    // Measured: a pool of another process stays as long as a pointer of it is imported.
    if (gone->imported && gone->live > 0) return CUDA_ERROR_INVALID_VALUE;
    destroy_pool(gone);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(call const& c, CUmemoryPool handle, std::size_t keep) {
    pool_ptr of;
    SIM_TRY(find(handle, of));
    SIM_TRY(unsafe(c));
    trim(*of, keep);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(call const& c, CUmemoryPool handle, CUmemPool_attribute which, void* value) {
    pool_ptr of;
    SIM_TRY(find(handle, of));
    SIM_TRY(unsafe(c));
    return value ? write_attribute(*of, which, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAttribute(call const& c, CUmemoryPool handle, CUmemPool_attribute which, void* value) {
    pool_ptr of;
    SIM_TRY(find(handle, of));
    SIM_TRY(unsafe(c));
    return value ? read_attribute(*of, which, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(call const&, CUmemoryPool handle, CUmemAccessDesc const* map, std::size_t count) {
    pool_ptr of;
    SIM_TRY(find(handle, of));
    if (!map && count) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) {
        int const ordinal = map[index].location.id;
        if (!find_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
        if (ordinal == of->owner->ordinal && map[index].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return CUDA_ERROR_INVALID_DEVICE;
        if (map[index].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && map[index].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_NOT_SUPPORTED;
        of->access[ordinal] = map[index].flags;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(call const&, CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
    pool_ptr of;
    if (any_null(flags, location)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    if (!find_device(location->id)) return CUDA_ERROR_INVALID_DEVICE;
    auto const set = of->access.find(location->id);
    *flags = location->id == of->owner->ordinal ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : set == of->access.end()          ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                                : set->second;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(call const&, CUmemoryPool* out, CUdevice dev) {
    device* const owner = find_device(dev);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    *out = default_pool(*owner)->handle;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(call const&, CUmemoryPool* out, CUdevice dev) {
    device* const owner = find_device(dev);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    *out = current_pool(*owner)->handle;
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(call const&, CUdevice dev, CUmemoryPool handle) {
    return select(find_device(dev), handle);
}

CUresult cuMemGetDefaultMemPool(call const& c, CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
    device* of = nullptr;
    SIM_TRY(device_of(location, type, of));
    return cuDeviceGetDefaultMemPool(c, out, of->ordinal);
}

CUresult cuMemGetMemPool(call const& c, CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
    device* of = nullptr;
    SIM_TRY(device_of(location, type, of));
    return cuDeviceGetMemPool(c, out, of->ordinal);
}

CUresult cuMemSetMemPool(call const&, CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
    device* of = nullptr;
    SIM_TRY(device_of(location, type, of));
    return select(of, handle);
}

}  // namespace api
}  // namespace lastref::simdriver
