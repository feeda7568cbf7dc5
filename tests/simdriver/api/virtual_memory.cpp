// Virtual memory management.
#include "tests/simdriver/core/virtual_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

bool whole(std::size_t bytes) {
    return bytes && bytes % granularity == 0;
}

CUresult device_of(CUmemAllocationProp const* props, device*& out) {
    if (!props || props->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    out = find_device(props->location.id);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult find(CUmemGenericAllocationHandle handle, physical_ptr& out) {
    out = physical_memories().find(handle);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The mappings that make up exactly [address, address + bytes).
bool exactly_mapped(std::uintptr_t address, std::size_t bytes) {
    std::uintptr_t const end = address + bytes;
    while (address < end) {
        auto const held = memory().at(address);
        if (!held || held->kind != memory_kind::mapping) return false;
        address += held->size;
    }
    return address == end;
}

}  // namespace

namespace api {

CUresult cuMemGetAllocationGranularity(call const&, std::size_t* out, CUmemAllocationProp const* props,
                                       CUmemAllocationGranularity_flags) {
    device* owner = nullptr;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(device_of(props, owner));
    *out = granularity;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(call const&, CUmemGenericAllocationHandle* out, std::size_t bytes,
                     CUmemAllocationProp const* props, unsigned long long flags) {
    device* owner = nullptr;
    if (!out || flags || !whole(bytes)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(device_of(props, owner));
    auto const made = make_physical(*owner, bytes, *props);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = made->handle;
    return CUDA_SUCCESS;
}

// The memory lives on while it is mapped.
CUresult cuMemRelease(call const&, CUmemGenericAllocationHandle handle) {
    physical_ptr gone;
    SIM_TRY(find(handle, gone));
    if (--gone->references) return CUDA_SUCCESS;
    physical_memories().remove(handle);
    gone->handle = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(call const&, CUmemGenericAllocationHandle* out, void* address) {
    auto const mapped = mapped_at(reinterpret_cast<std::uintptr_t>(address));
    if (!out || !mapped) return CUDA_ERROR_INVALID_VALUE;
    if (!mapped->handle) physical_memories().add(mapped);
    ++mapped->references;
    *out = mapped->handle;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(call const&, CUdeviceptr* out, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
    if (!out || flags || !whole(bytes) || alignment & (alignment - 1)) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t const base = reserve_addresses(bytes, std::max(alignment, granularity));
    if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = base;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(call const&, CUdeviceptr address, std::size_t bytes) {
    auto const range = address_ranges().find(address);
    if (range == address_ranges().end() || range->second != bytes) return CUDA_ERROR_INVALID_VALUE;
    if (memory().overlaps(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    free_addresses(address, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(call const&, CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    physical_ptr physical;
    if (flags || offset || !whole(bytes) || address % granularity) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, physical));
    bool const fits = physical->size == bytes && inside_range(address, bytes) && !memory().overlaps(address, bytes);
    if (!fits) return CUDA_ERROR_INVALID_VALUE;
    return map_physical(address, physical) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// Waits for the device's work, as every free does that is not ordered by a stream.
CUresult cuMemUnmap(call const& c, CUdeviceptr address, std::size_t bytes) {
    if (!whole(bytes) || !inside_range(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (!memory().overlaps(address, bytes)) return CUDA_SUCCESS;  // nothing mapped there is no error
    if (!exactly_mapped(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t done = 0; done < bytes;) {
        auto const held = memory().at(address + done);
        if (held->owner) synchronize(c, *held->owner);
        unmap_physical(held->base, held->size);
        done += held->size;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(call const&, CUdeviceptr address, std::size_t bytes, CUmemAccessDesc const* access,
                        std::size_t count) {
    if (!access || !count || !exactly_mapped(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index)
        if (!find_device(access[index].location.id)) return CUDA_ERROR_INVALID_DEVICE;
    for (std::size_t done = 0; done < bytes; done += memory().at(address + done)->size)
        for (std::size_t index = 0; index < count; ++index)
            memory().at(address + done)->access[access[index].location.id] = access[index].flags;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(call const&, unsigned long long* flags, CUmemLocation const* location, CUdeviceptr address) {
    auto const held = memory().around(address);
    if (any_null(flags, location) || !held || held->kind != memory_kind::mapping) return CUDA_ERROR_INVALID_VALUE;
    auto const set = held->access.find(location->id);
    *flags = set == held->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : set->second;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(call const&, CUmemAllocationProp* out,
                                                CUmemGenericAllocationHandle handle) {
    physical_ptr of;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    *out = of->props;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(call const&, void* out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    physical_ptr of;
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    bool const exportable = of->props.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !exportable) return CUDA_ERROR_INVALID_VALUE;
    *static_cast<int*>(out) = fcntl(of->file.get(), F_DUPFD_CLOEXEC, 0);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(call const& c, CUmemGenericAllocationHandle* out, void* handle,
                                        CUmemAllocationHandleType type) {
    context_ptr current;
    if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    device* owner = find_device(0);
    if (current_context(c, current) == CUDA_SUCCESS) owner = current->owner;
    auto const made = import_physical(*owner, static_cast<int>(reinterpret_cast<std::intptr_t>(handle)));
    if (!made) return CUDA_ERROR_INVALID_VALUE;
    *out = made->handle;
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
