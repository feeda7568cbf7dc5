// Calls that do several things at once: batches of copies and of prefetches.
#include <array>
#include <vector>

#include "tests/workloads/common/facts.h"

namespace {

using namespace lastref::workload;

constexpr std::size_t count = 3;
constexpr std::array<std::size_t, count> bytes{64, 128, 256};

void copies(CUstream stream) {
    std::array<CUdeviceptr, count> from{}, to{};
    for (std::size_t i = 0; i < count; ++i) {
        MUST(cuMemAlloc(&from[i], bytes[i]));
        MUST(cuMemAlloc(&to[i], bytes[i]));
        MUST(cuMemsetD8(from[i], static_cast<unsigned char>(i + 1), bytes[i]));
    }
    // A memset of device memory does not wait, and the legacy stream, where it runs, is not ordered with this one.
    MUST(cuCtxSynchronize());
    auto sizes = bytes;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    std::size_t first = 0;
    MUST(cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), count, &attributes, &first, 1, stream));
    MUST(cuStreamSynchronize(stream));
    for (std::size_t i = 0; i < count; ++i) {
        unsigned char last = 0;
        MUST(cuMemcpyDtoH(&last, to[i] + bytes[i] - 1, 1));
        fact("copied", last, static_cast<long long>(i + 1));
        MUST(cuMemFree(from[i]));
        MUST(cuMemFree(to[i]));
    }
}

void prefetches(CUstream stream) {
    std::array<CUdeviceptr, count> range{};
    for (std::size_t i = 0; i < count; ++i) MUST(cuMemAllocManaged(&range[i], bytes[i], CU_MEM_ATTACH_GLOBAL));
    auto sizes = bytes;
    CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    std::size_t first = 0;
    MUST(cuMemPrefetchBatchAsync(range.data(), sizes.data(), count, &device, &first, 1, 0, stream));
    MUST(cuStreamSynchronize(stream));
    for (CUdeviceptr const one : range) MUST(cuMemFree(one));
}

}  // namespace

int main() {
    use_first_device();
    CUstream stream = nullptr;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    copies(stream);
    prefetches(stream);
    MUST(cuStreamDestroy(stream));
    return finish();
}
