// Memsets, prefetches, advice. A memset of device memory does not wait, also where its name has no Async.
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

CUresult set_2d(call const& c, CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
                std::size_t height, CUstream token) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    if (!on->capturing) SIM_TRY(implicit_dependency(*on));
    if (!width || !height) return CUDA_SUCCESS;
    auto const owner = on->owner.lock();
    CUDA_MEMSET_NODE_PARAMS const set{to, pitch, value, element, width, height};
    SIM_TRY(check(set));
    return enqueue(c, on, set_work{set, owner ? owner->handle : nullptr});
}

CUresult set_1d(call const& c, CUdeviceptr to, unsigned value, unsigned element, std::size_t width, CUstream token) {
    return set_2d(c, to, width * element, value, element, width, 1, token);
}

CUresult prefetch(call const& c, CUdeviceptr address, std::size_t bytes, CUstream token) {
    stream_ptr on;
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));
    if (!memory().covers(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(c, on, empty_work{});
}

CUresult prefetch_batch(call const& c, CUdeviceptr const* addresses, std::size_t const* sizes, std::size_t count,
                        CUstream token) {
    if (any_null(addresses, sizes) || !count) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) SIM_TRY(prefetch(c, addresses[index], sizes[index], token));
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuMemsetD8(call const& c, CUdeviceptr to, unsigned char value, std::size_t count) {
    return set_1d(c, to, value, 1, count, nullptr);
}

CUresult cuMemsetD16(call const& c, CUdeviceptr to, unsigned short value, std::size_t count) {
    return set_1d(c, to, value, 2, count, nullptr);
}

CUresult cuMemsetD32(call const& c, CUdeviceptr to, unsigned int value, std::size_t count) {
    return set_1d(c, to, value, 4, count, nullptr);
}

CUresult cuMemsetD8Async(call const& c, CUdeviceptr to, unsigned char value, std::size_t count, CUstream token) {
    return set_1d(c, to, value, 1, count, token);
}

CUresult cuMemsetD16Async(call const& c, CUdeviceptr to, unsigned short value, std::size_t count, CUstream token) {
    return set_1d(c, to, value, 2, count, token);
}

CUresult cuMemsetD32Async(call const& c, CUdeviceptr to, unsigned int value, std::size_t count, CUstream token) {
    return set_1d(c, to, value, 4, count, token);
}

CUresult cuMemsetD2D8(call const& c, CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
    return set_2d(c, to, pitch, value, 1, width, height, nullptr);
}

CUresult cuMemsetD2D16(call const& c, CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
    return set_2d(c, to, pitch, value, 2, width, height, nullptr);
}

CUresult cuMemsetD2D32(call const& c, CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                       std::size_t height) {
    return set_2d(c, to, pitch, value, 4, width, height, nullptr);
}

CUresult cuMemsetD2D8Async(call const& c, CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CUstream token) {
    return set_2d(c, to, pitch, value, 1, width, height, token);
}

CUresult cuMemsetD2D16Async(call const& c, CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                            std::size_t height, CUstream token) {
    return set_2d(c, to, pitch, value, 2, width, height, token);
}

CUresult cuMemsetD2D32Async(call const& c, CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                            std::size_t height, CUstream token) {
    return set_2d(c, to, pitch, value, 4, width, height, token);
}

CUresult cuMemPrefetchAsync(call const& c, CUdeviceptr address, std::size_t bytes, CUdevice, CUstream token) {
    return prefetch(c, address, bytes, token);
}

CUresult cuMemPrefetchAsync(call const& c, CUdeviceptr address, std::size_t bytes, CUmemLocation, unsigned int,
                            CUstream token) {
    return prefetch(c, address, bytes, token);
}

CUresult cuMemPrefetchBatchAsync(call const& c, CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                 CUmemLocation*, std::size_t*, std::size_t, unsigned long long, CUstream token) {
    return prefetch_batch(c, addresses, sizes, count, token);
}

CUresult cuMemDiscardBatchAsync(call const& c, CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                unsigned long long, CUstream token) {
    return prefetch_batch(c, addresses, sizes, count, token);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(call const& c, CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                           CUmemLocation*, std::size_t*, std::size_t, unsigned long long,
                                           CUstream token) {
    return prefetch_batch(c, addresses, sizes, count, token);
}

CUresult cuMemAdvise(call const&, CUdeviceptr address, std::size_t bytes, CUmem_advise, CUdevice) {
    return memory().covers(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise(call const&, CUdeviceptr address, std::size_t bytes, CUmem_advise, CUmemLocation) {
    return memory().covers(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace api
}  // namespace lastref::simdriver
