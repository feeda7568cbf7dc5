// Device, managed, pinned and registered memory.
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

constexpr std::size_t pitch_alignment = 512;

CUresult make(call const& c, memory_kind kind, std::size_t bytes, unsigned flags, std::uintptr_t& out) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    return allocate(*current, kind, bytes, flags, out);
}

CUresult make_device(call const& c, CUdeviceptr* out, std::size_t bytes) {
    std::uintptr_t base = 0;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(make(c, memory_kind::device, bytes, 0, base));
    *out = base;
    return CUDA_SUCCESS;
}

CUresult make_pinned(call const& c, void** out, std::size_t bytes, unsigned flags) {
    std::uintptr_t base = 0;
    if (!out || flags & ~7u) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    if (!bytes) return CUDA_SUCCESS;
    SIM_TRY(make(c, memory_kind::pinned, bytes, flags, base));
    *out = reinterpret_cast<void*>(base);
    return CUDA_SUCCESS;
}

void free_graph_memory(call const& c, allocation const& gone) {
    auto const freed = std::make_shared<operation>();
    let_go(find_graph_memory(gone.base), freed);
    driver().work.submit(freed, {});
    wait_for(c, freed);
}

void free_pool_memory(call const& c, allocation_ptr const& gone) {
    memory().remove(gone->base);
    auto const freed = std::make_shared<operation>();
    return_to_pool(gone, freed, {});
    driver().work.submit(freed, {});
    wait_for(c, freed);
}

}  // namespace

namespace api {

CUresult cuMemAlloc(call const& c, CUdeviceptr* out, std::size_t bytes) {
    return make_device(c, out, bytes);
}

CUresult cuMemAllocPitch(call const& c, CUdeviceptr* out, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned int element) {
    if (any_null(out, pitch) || !width || !height) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    std::size_t const row = round_up(width, pitch_alignment);
    SIM_TRY(make_device(c, out, row * height));
    *pitch = row;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(call const& c, CUdeviceptr* out, std::size_t bytes, unsigned int flags) {
    std::uintptr_t base = 0;
    if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(make(c, memory_kind::managed, bytes, flags, base));
    *out = base;
    return CUDA_SUCCESS;
}

// Works on a thread without a context, and on stream-ordered and graph memory too. It waits for the device's work, but
// not for stream-ordered memory: whoever frees that like this has waited.
CUresult cuMemFree(call const& c, CUdeviceptr address) {
    SIM_TRY(unsafe(c));
    if (!address) return CUDA_SUCCESS;
    if (auto const current = c.self.current(); current && !current->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    allocation_ptr const gone = memory().at(address);
    if (!gone || gone->permanent) return CUDA_ERROR_INVALID_VALUE;
    if (auto const in = gone->made_in.lock(); in && *in->fault != CUDA_SUCCESS) return *in->fault;
    if (gone->kind != memory_kind::pool) synchronize(c, *gone->owner);
    if (memory().at(address) != gone) return CUDA_ERROR_INVALID_VALUE;  // freed by another thread meanwhile
    switch (gone->kind) {
        case memory_kind::device:
        case memory_kind::managed:
            release(*gone);
            return CUDA_SUCCESS;
        case memory_kind::external:
            memory().remove(address);
            return CUDA_SUCCESS;
        case memory_kind::pool:
            free_pool_memory(c, gone);
            return CUDA_SUCCESS;
        case memory_kind::graph:
            free_graph_memory(c, *gone);
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemAllocHost(call const& c, void** out, std::size_t bytes) {
    return make_pinned(c, out, bytes, 0);
}

CUresult cuMemHostAlloc(call const& c, void** out, std::size_t bytes, unsigned int flags) {
    return make_pinned(c, out, bytes, flags);
}

CUresult cuMemFreeHost(call const& c, void* address) {
    SIM_TRY(unsafe(c));
    if (!address) return CUDA_SUCCESS;
    allocation_ptr const gone = memory().at(reinterpret_cast<std::uintptr_t>(address));
    if (!gone || gone->kind != memory_kind::pinned) return CUDA_ERROR_INVALID_VALUE;
    synchronize(c, *gone->owner);
    if (memory().at(gone->base) != gone) return CUDA_ERROR_INVALID_VALUE;
    release(*gone);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(call const& c, void* address, std::size_t bytes, unsigned int flags) {
    context_ptr current;
    if (!address || !bytes || flags & ~15u) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    auto const base = reinterpret_cast<std::uintptr_t>(address);
    if (auto const held = memory().around(base); held && held->kind != memory_kind::registered)
        return CUDA_ERROR_INVALID_VALUE;
    if (memory().overlaps(base, bytes)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    auto made = std::make_shared<allocation>();
    made->base = base;
    made->size = bytes;
    made->kind = memory_kind::registered;
    made->flags = flags;
    made->owner = current->owner;
    made->made_in = current;
    memory().add(made);
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(call const& c, void* address) {
    SIM_TRY(unsafe(c));
    allocation_ptr const gone = memory().at(reinterpret_cast<std::uintptr_t>(address));
    if (!gone && !memory().around(reinterpret_cast<std::uintptr_t>(address)))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (!gone || gone->kind != memory_kind::registered) return CUDA_ERROR_INVALID_VALUE;
    synchronize(c, *gone->owner);
    release(*gone);
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(call const& c, std::size_t* free, std::size_t* total) {
    context_ptr current;
    if (any_null(free, total)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    *total = driver().set.memory_bytes;
    *free = *total - current->owner->used_bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(call const&, CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
    allocation_ptr const held = memory().around(address);
    if (!held) return CUDA_ERROR_NOT_FOUND;
    put(base, held->base);
    put(size, held->size);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(call const&, CUdeviceptr* out, void* address, unsigned int flags) {
    allocation_ptr const held = memory().around(reinterpret_cast<std::uintptr_t>(address));
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    if (!held || (held->kind != memory_kind::pinned && held->kind != memory_kind::registered))
        return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUdeviceptr>(address);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(call const&, unsigned int* flags, void* address) {
    allocation_ptr const held = memory().at(reinterpret_cast<std::uintptr_t>(address));
    if (!flags || !held || held->kind != memory_kind::pinned) return CUDA_ERROR_INVALID_VALUE;
    *flags = held->flags | CU_MEMHOSTALLOC_DEVICEMAP;  // with unified addressing all are mapped
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
