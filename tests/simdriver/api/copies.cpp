// Copies. Synchronous ones run in the order of the default stream and wait.
#include <cstring>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

CUresult copy_async(call const& c, CUstream token, CUDA_MEMCPY3D const& copy, operation_ptr* made = nullptr) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    if (!on->capturing) SIM_TRY(implicit_dependency(*on));
    SIM_TRY(check(copy));
    if (!copy.WidthInBytes) return CUDA_SUCCESS;
    auto const owner = on->owner.lock();
    return enqueue(c, on, copy_work{copy, owner ? owner->handle : nullptr}, made);
}

CUresult copy_and_wait(call const& c, CUDA_MEMCPY3D const& copy) {
    operation_ptr made;
    SIM_TRY(copy_async(c, nullptr, copy, &made));
    if (made) wait_for(c, made);
    return CUDA_SUCCESS;
}

CUdeviceptr address(void const* host) {
    return reinterpret_cast<CUdeviceptr>(host);
}

CUDA_MEMCPY3D from_host(CUdeviceptr to, void const* from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = linear_copy(to, address(from), bytes);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    return copy;
}

CUDA_MEMCPY3D to_host(void* to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = linear_copy(address(to), from, bytes);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    return copy;
}

CUDA_MEMCPY3D on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = linear_copy(to, from, bytes);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    return copy;
}

void into_array(CUDA_MEMCPY3D& copy, CUarray to, std::size_t offset) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = to;
    copy.dstXInBytes = offset;
}

void out_of_array(CUDA_MEMCPY3D& copy, CUarray from, std::size_t offset) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = from;
    copy.srcXInBytes = offset;
}

CUDA_MEMCPY3D widened(CUDA_MEMCPY2D const& flat) {
    CUDA_MEMCPY3D copy{};
    copy.srcXInBytes = flat.srcXInBytes;
    copy.srcY = flat.srcY;
    copy.srcMemoryType = flat.srcMemoryType;
    copy.srcHost = flat.srcHost;
    copy.srcDevice = flat.srcDevice;
    copy.srcArray = flat.srcArray;
    copy.srcPitch = flat.srcPitch ? flat.srcPitch : flat.WidthInBytes;
    copy.dstXInBytes = flat.dstXInBytes;
    copy.dstY = flat.dstY;
    copy.dstMemoryType = flat.dstMemoryType;
    copy.dstHost = flat.dstHost;
    copy.dstDevice = flat.dstDevice;
    copy.dstArray = flat.dstArray;
    copy.dstPitch = flat.dstPitch ? flat.dstPitch : flat.WidthInBytes;
    copy.WidthInBytes = flat.WidthInBytes;
    copy.Height = flat.Height;
    copy.Depth = 1;
    return copy;
}

// The two structures agree up to the contexts that a copy between devices names, which mean nothing here.
CUDA_MEMCPY3D without_contexts(CUDA_MEMCPY3D_PEER const& peer) {
    CUDA_MEMCPY3D copy{};
    static_assert(sizeof peer == sizeof copy);
    std::memcpy(&copy, &peer, sizeof copy);
    copy.reserved0 = copy.reserved1 = nullptr;
    return copy;
}

CUresult copy_batch(call const& c, CUdeviceptr const* to, CUdeviceptr const* from, std::size_t const* sizes,
                    std::size_t count, CUstream token) {
    if (any_null(to, from, sizes) || !count || !token || token == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index)
        SIM_TRY(check(linear_copy(to[index], from[index], sizes[index])));
    for (std::size_t index = 0; index < count; ++index)
        SIM_TRY(copy_async(c, token, linear_copy(to[index], from[index], sizes[index])));
    return CUDA_SUCCESS;
}

struct operand_side {
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    CUdeviceptr address = 0;
    CUarray handle = nullptr;
    CUoffset3D offset{};
    std::size_t pitch = 0, height = 0;
};

// In a batch, extents and row lengths count elements: bytes for pointers.
operand_side side_of(CUmemcpy3DOperand const& operand, CUextent3D const& extent) {
    operand_side side;
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        side.type = CU_MEMORYTYPE_ARRAY;
        side.handle = operand.op.array.array;
        side.offset = operand.op.array.offset;
        return side;
    }
    side.address = operand.op.ptr.ptr;
    side.pitch = operand.op.ptr.rowLength ? operand.op.ptr.rowLength : extent.width;
    side.height = operand.op.ptr.layerHeight ? operand.op.ptr.layerHeight : extent.height;
    return side;
}

CUDA_MEMCPY3D copy_of(CUDA_MEMCPY3D_BATCH_OP const& one) {
    operand_side const from = side_of(one.src, one.extent), to = side_of(one.dst, one.extent);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = from.type;
    copy.srcDevice = from.address;
    copy.srcArray = from.handle;
    copy.srcXInBytes = from.offset.x;
    copy.srcY = from.offset.y;
    copy.srcZ = from.offset.z;
    copy.srcPitch = from.pitch;
    copy.srcHeight = from.height;
    copy.dstMemoryType = to.type;
    copy.dstDevice = to.address;
    copy.dstArray = to.handle;
    copy.dstXInBytes = to.offset.x;
    copy.dstY = to.offset.y;
    copy.dstZ = to.offset.z;
    copy.dstPitch = to.pitch;
    copy.dstHeight = to.height;
    copy.WidthInBytes = one.extent.width;
    copy.Height = one.extent.height;
    copy.Depth = one.extent.depth;
    return copy;
}

CUresult copy_3d_batch(call const& c, std::size_t count, CUDA_MEMCPY3D_BATCH_OP const* list, CUstream token) {
    if (!list || !count || !token || token == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) SIM_TRY(check(copy_of(list[index])));
    for (std::size_t index = 0; index < count; ++index) SIM_TRY(copy_async(c, token, copy_of(list[index])));
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuMemcpy(call const& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_and_wait(c, linear_copy(to, from, bytes));
}

CUresult cuMemcpyAsync(call const& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream token) {
    return copy_async(c, token, linear_copy(to, from, bytes));
}

CUresult cuMemcpyPeer(call const& c, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
    return copy_and_wait(c, on_device(to, from, bytes));
}

CUresult cuMemcpyPeerAsync(call const& c, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes,
                           CUstream token) {
    return copy_async(c, token, on_device(to, from, bytes));
}

CUresult cuMemcpyHtoD(call const& c, CUdeviceptr to, void const* from, std::size_t bytes) {
    return copy_and_wait(c, from_host(to, from, bytes));
}

CUresult cuMemcpyHtoDAsync(call const& c, CUdeviceptr to, void const* from, std::size_t bytes, CUstream token) {
    return copy_async(c, token, from_host(to, from, bytes));
}

CUresult cuMemcpyDtoH(call const& c, void* to, CUdeviceptr from, std::size_t bytes) {
    return copy_and_wait(c, to_host(to, from, bytes));
}

CUresult cuMemcpyDtoHAsync(call const& c, void* to, CUdeviceptr from, std::size_t bytes, CUstream token) {
    return copy_async(c, token, to_host(to, from, bytes));
}

CUresult cuMemcpyDtoD(call const& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_and_wait(c, on_device(to, from, bytes));
}

CUresult cuMemcpyDtoDAsync(call const& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream token) {
    return copy_async(c, token, on_device(to, from, bytes));
}

CUresult cuMemcpyDtoA(call const& c, CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = on_device(0, from, bytes);
    into_array(copy, to, offset);
    return copy_and_wait(c, copy);
}

CUresult cuMemcpyAtoD(call const& c, CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
    CUDA_MEMCPY3D copy = on_device(to, 0, bytes);
    out_of_array(copy, from, offset);
    return copy_and_wait(c, copy);
}

CUresult cuMemcpyHtoA(call const& c, CUarray to, std::size_t offset, void const* from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = from_host(0, from, bytes);
    into_array(copy, to, offset);
    return copy_and_wait(c, copy);
}

CUresult cuMemcpyHtoAAsync(call const& c, CUarray to, std::size_t offset, void const* from, std::size_t bytes,
                           CUstream token) {
    CUDA_MEMCPY3D copy = from_host(0, from, bytes);
    into_array(copy, to, offset);
    return copy_async(c, token, copy);
}

CUresult cuMemcpyAtoH(call const& c, void* to, CUarray from, std::size_t offset, std::size_t bytes) {
    CUDA_MEMCPY3D copy = to_host(to, 0, bytes);
    out_of_array(copy, from, offset);
    return copy_and_wait(c, copy);
}

CUresult cuMemcpyAtoHAsync(call const& c, void* to, CUarray from, std::size_t offset, std::size_t bytes,
                           CUstream token) {
    CUDA_MEMCPY3D copy = to_host(to, 0, bytes);
    out_of_array(copy, from, offset);
    return copy_async(c, token, copy);
}

CUresult cuMemcpyAtoA(call const& c, CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                      std::size_t bytes) {
    CUDA_MEMCPY3D copy = linear_copy(0, 0, bytes);
    into_array(copy, to, to_offset);
    out_of_array(copy, from, from_offset);
    return copy_and_wait(c, copy);
}

CUresult cuMemcpy2D(call const& c, CUDA_MEMCPY2D const* copy) {
    return copy ? copy_and_wait(c, widened(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy2DUnaligned(call const& c, CUDA_MEMCPY2D const* copy) {
    return cuMemcpy2D(c, copy);
}

CUresult cuMemcpy2DAsync(call const& c, CUDA_MEMCPY2D const* copy, CUstream token) {
    return copy ? copy_async(c, token, widened(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3D(call const& c, CUDA_MEMCPY3D const* copy) {
    return copy ? copy_and_wait(c, *copy) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DAsync(call const& c, CUDA_MEMCPY3D const* copy, CUstream token) {
    return copy ? copy_async(c, token, *copy) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DPeer(call const& c, CUDA_MEMCPY3D_PEER const* copy) {
    return copy ? copy_and_wait(c, without_contexts(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DPeerAsync(call const& c, CUDA_MEMCPY3D_PEER const* copy, CUstream token) {
    return copy ? copy_async(c, token, without_contexts(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyBatchAsync(call const& c, CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                            CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*, CUstream token) {
    return copy_batch(c, to, from, sizes, count, token);
}

CUresult cuMemcpyBatchAsync(call const& c, CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                            CUmemcpyAttributes*, std::size_t*, std::size_t, CUstream token) {
    return copy_batch(c, to, from, sizes, count, token);
}

CUresult cuMemcpy3DBatchAsync(call const& c, std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, std::size_t*,
                              unsigned long long, CUstream token) {
    return copy_3d_batch(c, count, list, token);
}

CUresult cuMemcpy3DBatchAsync(call const& c, std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, unsigned long long,
                              CUstream token) {
    return copy_3d_batch(c, count, list, token);
}

}  // namespace api
}  // namespace lastref::simdriver
