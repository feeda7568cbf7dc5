// Kernel launches: work of a settable length that computes nothing.
#include "tests/simdriver/api/common.h"
#include "tests/simdriver/core/modules.h"

namespace lastref::simdriver {
namespace {

bool names_kernel(CUfunction handle) {
    return functions().find(handle) || kernels().find(reinterpret_cast<CUkernel>(handle));
}

unsigned most_shared(CUfunction handle) {
    constexpr unsigned by_default = 49152;
    auto const of = functions().find(handle);
    if (!of) return by_default;
    auto const set = of->attributes.find(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    return set == of->attributes.end() ? by_default : static_cast<unsigned>(set->second);
}

CUresult launch_kernel(call const& c, CUDA_KERNEL_NODE_PARAMS const& params, CUstream token) {
    stream_ptr on;
    if (!names_kernel(params.func)) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(resolve(c, token, on));
    std::uint64_t const blocks = std::uint64_t{params.gridDimX} * params.gridDimY * params.gridDimZ;
    std::uint64_t const threads = std::uint64_t{params.blockDimX} * params.blockDimY * params.blockDimZ;
    if (!blocks || !threads || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (params.sharedMemBytes > most_shared(params.func)) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(c, on, kernel_work{params});
}

}  // namespace

namespace api {

CUresult cuLaunchKernel(call const& c, CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                        CUstream token, void** parameters, void** extra) {
    CUDA_KERNEL_NODE_PARAMS const params{f,       grid_x, grid_y,     grid_z, block_x, block_y,
                                         block_z, shared, parameters, extra,  nullptr, nullptr};
    return launch_kernel(c, params, token);
}

CUresult cuLaunchCooperativeKernel(call const& c, CUfunction f, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared, CUstream token, void** parameters) {
    return cuLaunchKernel(c, f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, token, parameters, nullptr);
}

CUresult cuLaunchKernelEx(call const& c, CUlaunchConfig const* config, CUfunction f, void** parameters, void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    return cuLaunchKernel(c, f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                          config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, parameters,
                          extra);
}

// The launches of the first versions, whose shape was set on the function: one block of one thread stands for it.
CUresult cuLaunch(call const& c, CUfunction f) {
    return cuLaunchKernel(c, f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

CUresult cuLaunchGrid(call const& c, CUfunction f, int width, int height) {
    return cuLaunchGridAsync(c, f, width, height, nullptr);
}

CUresult cuLaunchGridAsync(call const& c, CUfunction f, int width, int height, CUstream token) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    return cuLaunchKernel(c, f, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, 1, 1, 1, 0, token,
                          nullptr, nullptr);
}

}  // namespace api
}  // namespace lastref::simdriver
