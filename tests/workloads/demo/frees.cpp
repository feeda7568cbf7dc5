// Frees that lack what they depend on: a context, or an order.
#include "demo.h"
#include "tests/workloads/common/facts.h"

namespace lastref::demo {
namespace {

using workload::fact;

constexpr std::size_t buffer_bytes = 256 << 10;

LASTREF_DEMO_STEP CUdeviceptr allocate_on(CUstream token) {
    CUdeviceptr buffer = 0;
    MUST(cuMemAllocAsync(&buffer, buffer_bytes, token));
    MUST(cuMemsetD8Async(buffer, 1, buffer_bytes, token));
    return buffer;
}

// What a garbage collector's or a finalizer's thread does: nobody has made a context current there.
LASTREF_DEMO_STEP CUresult free_on_bare_thread(CUdeviceptr buffer) {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] { result = cuMemFreeAsync(buffer, CU_STREAM_LEGACY); }).join();
    return result;
}

template <class Work>
void on_worker(CUcontext context, Work work) {
    workload::on_lasting_thread([&] {
        MUST(cuCtxSetCurrent(context));
        work();
    });
}

}  // namespace

LASTREF_DEMO_STEP void fault_free_without_context(CUcontext) {
    CUdeviceptr const buffer = allocate_on(CU_STREAM_LEGACY);
    fact("free without context", free_on_bare_thread(buffer), CUDA_ERROR_INVALID_CONTEXT);
}

LASTREF_DEMO_STEP void healthy_free_repeated_with_context(CUcontext) {
    CUdeviceptr const buffer = allocate_on(CU_STREAM_LEGACY);
    fact("free without context, to be repeated", free_on_bare_thread(buffer), CUDA_ERROR_INVALID_CONTEXT);
    fact("the same free with a context", cuMemFreeAsync(buffer, CU_STREAM_LEGACY), CUDA_SUCCESS);
}

LASTREF_DEMO_STEP void fault_free_on_other_threads_default_stream(CUcontext context) {
    CUdeviceptr buffer = 0;
    on_worker(context, [&] { buffer = allocate_on(CU_STREAM_PER_THREAD); });
    on_worker(context, [&] {
        fact("free on another thread's default stream", cuMemFreeAsync(buffer, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    });
}

LASTREF_DEMO_STEP void healthy_free_on_own_threads_default_stream(CUcontext context) {
    on_worker(context, [] {
        CUdeviceptr const buffer = allocate_on(CU_STREAM_PER_THREAD);
        fact("free on the thread's own default stream", cuMemFreeAsync(buffer, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
        MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    });
}

}  // namespace lastref::demo
