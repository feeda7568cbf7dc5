// Stream capture: what it collects, and what breaks it.
#include "tests/workloads/common/facts.h"

namespace {

using namespace lastref::workload;

void begin(CUstream stream, CUstreamCaptureMode mode) {
    MUST(cuStreamBeginCapture(stream, mode));
}

CUresult end(CUstream stream) {
    CUgraph graph = nullptr;
    CUresult const result = cuStreamEndCapture(stream, &graph);
    if (graph) MUST(cuGraphDestroy(graph));
    return result;
}

CUdeviceptr allocated(CUstream stream) {
    CUdeviceptr memory = 0;
    MUST(cuMemAllocAsync(&memory, 4096, stream));
    MUST(cuStreamSynchronize(stream));
    return memory;
}

template <class Work>
CUresult on_other_thread(CUcontext context, Work work) {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
        MUST(cuCtxSetCurrent(context));
        result = work();
    }).join();
    return result;
}

CUresult allocate_plainly() {
    CUdeviceptr memory = 0;
    CUresult const result = cuMemAlloc(&memory, 64);
    if (result == CUDA_SUCCESS) MUST(cuMemFree(memory));
    return result;
}

void collects(CUstream stream, CUdeviceptr memory) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    std::size_t count = 0;
    unsigned value = 0;
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    MUST(cuMemsetD32Async(memory, 5, 4, stream));
    MUST(cuMemsetD32Async(memory + 4, 6, 1, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphGetNodes(graph, nullptr, &count));
    fact("nodes captured", static_cast<long long>(count), 2);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(&value, memory + 4, 4));
    fact("value written in order", value, 6);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

void forks_and_joins(CUstream stream, CUstream other, CUdeviceptr memory) {
    CUevent fork = nullptr, join = nullptr;
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    MUST(cuMemsetD8Async(memory, 1, 16, stream));
    MUST(cuEventRecord(fork, stream));
    MUST(cuStreamWaitEvent(other, fork, 0));
    MUST(cuMemsetD8Async(memory + 16, 1, 16, other));
    MUST(cuEventRecord(join, other));
    fact("query of a captured event", cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
    fact("end after that", end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    MUST(cuMemsetD8Async(memory, 1, 16, stream));
    MUST(cuEventRecord(fork, stream));
    MUST(cuStreamWaitEvent(other, fork, 0));
    MUST(cuMemsetD8Async(memory + 16, 1, 16, other));
    fact("end without a join", end(stream), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    MUST(cuMemsetD8Async(memory, 1, 16, stream));
    MUST(cuEventRecord(fork, stream));
    MUST(cuStreamWaitEvent(other, fork, 0));
    MUST(cuMemsetD8Async(memory + 16, 1, 16, other));
    MUST(cuEventRecord(join, other));
    MUST(cuStreamWaitEvent(stream, join, 0));
    fact("end after a join", end(stream), CUDA_SUCCESS);
    MUST(cuEventDestroy(fork));
    MUST(cuEventDestroy(join));
}

void broken_by_own_thread(CUstream stream, CUdeviceptr memory) {
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fact("free on the legacy stream", cuMemFreeAsync(memory, CU_STREAM_LEGACY), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    fact("then free on the capturing stream", cuMemFreeAsync(memory, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    fact("then cuMemAlloc", allocate_plainly(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fact("then end", end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    fact("free after the capture", cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
}

void modes(CUcontext context, CUstream stream) {
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fact("global: cuMemAlloc elsewhere", on_other_thread(context, allocate_plainly),
         CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fact("global: end", end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fact("global: cuMemAlloc elsewhere, relaxed",
         on_other_thread(context,
                         [] {
                             CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
                             MUST(cuThreadExchangeStreamCaptureMode(&mode));
                             return allocate_plainly();
                         }),
         CUDA_SUCCESS);
    fact("global: end", end(stream), CUDA_SUCCESS);

    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    fact("thread-local: cuMemAlloc elsewhere", on_other_thread(context, allocate_plainly), CUDA_SUCCESS);
    fact("thread-local: cuMemAlloc here", allocate_plainly(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fact("thread-local: end", end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    fact("relaxed: cuMemAlloc here", allocate_plainly(), CUDA_SUCCESS);
    fact("relaxed: end elsewhere", on_other_thread(context, [stream] { return end(stream); }), CUDA_SUCCESS);
}

void graph_memory(CUstream stream) {
    CUdeviceptr inside = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    MUST(cuMemAllocAsync(&inside, 4096, stream));
    MUST(cuMemsetD8Async(inside, 1, 4096, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    fact("second launch with the allocation unfreed", cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
    fact("free of the graph's allocation", cuMemFreeAsync(inside, stream), CUDA_SUCCESS);
    fact("launch after the free", cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    MUST(cuStreamSynchronize(stream));
    fact("destroy with the allocation outstanding", cuGraphExecDestroy(exec), CUDA_SUCCESS);
    MUST(cuGraphDestroy(graph));
    fact("free after the destroy", cuMemFreeAsync(inside, stream), CUDA_SUCCESS);
    MUST(cuStreamSynchronize(stream));
}

}  // namespace

int main() {
    CUstream stream = nullptr, other = nullptr;
    CUcontext const context = use_first_device();
    MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    CUdeviceptr const memory = allocated(stream);
    collects(stream, memory);
    forks_and_joins(stream, other, memory);
    modes(context, stream);
    broken_by_own_thread(stream, memory);
    graph_memory(stream);
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(stream));
    return finish();
}
