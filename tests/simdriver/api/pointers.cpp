// What the driver knows about a pointer.
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

CUmemorytype type_of(allocation const& of) {
    bool const host = of.kind == memory_kind::pinned || of.kind == memory_kind::registered;
    return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUcontext context_of(allocation const& of) {
    auto const made_in = of.made_in.lock();
    return made_in && of.kind != memory_kind::pool ? made_in->handle : nullptr;
}

template <class Value>
CUresult write(void* to, Value value) {
    *static_cast<Value*>(to) = value;
    return CUDA_SUCCESS;
}

CUresult read(allocation const& of, CUdeviceptr address, CUpointer_attribute which, void* to) {
    switch (which) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return write(to, context_of(of));
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return write(to, static_cast<unsigned>(type_of(of)));
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return write(to, address);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (type_of(of) == CU_MEMORYTYPE_DEVICE && of.kind != memory_kind::managed) break;
            return write(to, reinterpret_cast<void*>(address));
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return write(to, static_cast<unsigned long long>(of.id));
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return write(to, unsigned{of.kind == memory_kind::managed});
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return write(to, of.owner->ordinal);
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            return write(to, int{of.kind == memory_kind::device});
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return write(to, static_cast<CUdeviceptr>(of.base));
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return write(to, of.size);
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return write(to, 1);
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return write(to, int{of.sync_memops});
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return write(to, of.from && !of.from->destroyed ? of.from->handle : nullptr);
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return write(to, 0ull);
        default:
            break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

// For several attributes at once an unknown pointer is no error: type 0, context null, and so on.
void clear(CUpointer_attribute which, void* to) {
    switch (which) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED:
            write(to, 0);
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            write(to, -2);
            break;
        default:
            write(to, std::uint64_t{0});
            break;
    }
}

}  // namespace

namespace api {

CUresult cuPointerGetAttribute(call const&, void* to, CUpointer_attribute which, CUdeviceptr address) {
    allocation_ptr const of = memory().around(address);
    return to && of ? read(*of, address, which, to) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(call const&, unsigned int count, CUpointer_attribute* which, void** to,
                                CUdeviceptr address) {
    if (any_null(which, to)) return CUDA_ERROR_INVALID_VALUE;
    allocation_ptr const of = memory().around(address);
    for (unsigned index = 0; index < count; ++index)
        if (!of || read(*of, address, which[index], to[index]) != CUDA_SUCCESS) clear(which[index], to[index]);
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(call const&, void const* value, CUpointer_attribute which, CUdeviceptr address) {
    allocation_ptr const of = memory().at(address);
    if (!value || !of || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    of->sync_memops = *static_cast<unsigned const*>(value);
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
