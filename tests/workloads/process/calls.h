// A handful of calls that leave something in a trace.
#pragma once

#include "tests/workloads/common/facts.h"

namespace lastref::workload {

// Allocates, sets, frees on the stream; returns the last result.
inline CUresult allocate_and_free(CUstream stream) {
    CUdeviceptr memory = 0;
    MUST(cuMemAllocAsync(&memory, 4096, stream));
    MUST(cuMemsetD8Async(memory, 1, 4096, stream));
    return cuMemFreeAsync(memory, stream);
}

inline void allocate_and_free(int times) {
    for (int round = 0; round < times; ++round) MUST(allocate_and_free(CU_STREAM_LEGACY));
    MUST(cuStreamSynchronize(CU_STREAM_LEGACY));
}

}  // namespace lastref::workload
