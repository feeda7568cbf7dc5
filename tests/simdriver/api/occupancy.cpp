// Occupancy, and settings that change nothing here.
#include <algorithm>

#include "tests/simdriver/api/common.h"
#include "tests/simdriver/core/modules.h"

namespace lastref::simdriver {
namespace {

constexpr int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32, largest_block = 1024;

}  // namespace

namespace api {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(call const&, int* blocks, CUfunction handle, int block,
                                                     std::size_t) {
    if (!blocks || block <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!functions().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *blocks = std::min(blocks_per_multiprocessor, threads_per_multiprocessor / block);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(call const& c, int* blocks, CUfunction handle, int block,
                                                              std::size_t shared, unsigned int) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(c, blocks, handle, block, shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(call const&, int* grid, int* block, CUfunction handle, CUoccupancyB2DSize,
                                          std::size_t, int limit) {
    if (any_null(grid, block)) return CUDA_ERROR_INVALID_VALUE;
    if (!functions().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *block = limit > 0 ? std::min(limit, largest_block) : largest_block;
    *grid = threads_per_multiprocessor / *block;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(call const& c, int* grid, int* block, CUfunction handle,
                                                   CUoccupancyB2DSize size_of, std::size_t shared, int limit,
                                                   unsigned int) {
    return cuOccupancyMaxPotentialBlockSize(c, grid, block, handle, size_of, shared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(call const&, std::size_t* bytes, CUfunction handle, int blocks, int) {
    if (!bytes || blocks <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!functions().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *bytes = 49152;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(call const& c) {
    context_ptr current;
    return current_context(c, current);
}

CUresult cuCtxGetSharedMemConfig(call const& c, CUsharedconfig* config) {
    context_ptr current;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(call const& c, CUsharedconfig) {
    context_ptr current;
    return current_context(c, current);
}

CUresult cuFlushGPUDirectRDMAWrites(call const& c, CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) {
    context_ptr current;
    return current_context(c, current);
}

CUresult cuDeviceGetExecAffinitySupport(call const&, int* supported, CUexecAffinityType, CUdevice dev) {
    if (!supported) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *supported = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(call const&, int* value, CUdevice_P2PAttribute which, CUdevice from, CUdevice to) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(from) || !find_device(to) || from == to) return CUDA_ERROR_INVALID_DEVICE;
    *value = which == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
