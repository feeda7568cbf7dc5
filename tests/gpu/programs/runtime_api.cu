// A program of the runtime API: built with the runtime linked statically and as a shared library, and each with
// `--default-stream per-thread` too. What it does right must leave no finding; its planted faults are at the end.
#include "facts.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace lastref::gpu_test {
namespace {

#define TRY(call) \
    if (cudaError_t const try_result = (call); try_result != cudaSuccess) return failed(#call, try_result)

cudaError_t failed(char const* call, cudaError_t status) {
    std::printf("failed: %s: %d\n", call, static_cast<int>(status));
    return status;
}

constexpr unsigned int elements = 1024;
constexpr std::size_t bytes = elements * sizeof(std::uint32_t);

__global__ void add(std::uint32_t* data, std::uint32_t value) {
    auto const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) data[i] += value;
}

void CUDART_CB count_payload(void*) {
    ++payloads_destroyed;
}
void CUDART_CB count_callback(void*) {
    ++callbacks_run;
}
void CUDART_CB count_stream_callback(cudaStream_t, cudaError_t, void*) {
    ++callbacks_run;
}

cudaError_t launch_add(std::uint32_t* data, std::uint32_t value, cudaStream_t stream) {
    add<<<elements / 256, 256, 0, stream>>>(data, value);
    return cudaGetLastError();
}

bool all_equal(std::vector<std::uint32_t> const& values, std::uint32_t wanted) {
    for (auto const value : values) {
        if (value != wanted) return false;
    }
    return true;
}

cudaError_t run_kernel(cudaStream_t) {
    std::uint32_t* data = nullptr;
    std::vector<std::uint32_t> values(elements);
    TRY(cudaMalloc(&data, bytes));
    TRY(cudaMemset(data, 0, bytes));
    TRY(launch_add(data, 42, nullptr));
    TRY(cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost));
    TRY(cudaFree(data));
    expect("kernel added", all_equal(values, 42));
    return cudaSuccess;
}

cudaError_t use_host_memory(cudaStream_t stream) {
    std::uint32_t* pinned = nullptr;
    std::uint32_t* managed = nullptr;
    std::uint32_t* data = nullptr;
    TRY(cudaMallocHost(&pinned, bytes));
    TRY(cudaMallocManaged(&managed, bytes));
    TRY(cudaMalloc(&data, bytes));
    for (unsigned int i = 0; i < elements; ++i) pinned[i] = 5;
    TRY(cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, stream));
    TRY(launch_add(data, 1, stream));
    TRY(cudaMemcpyAsync(managed, data, bytes, cudaMemcpyDeviceToDevice, stream));
    TRY(cudaStreamSynchronize(stream));
    expect("pinned to managed", all_equal({managed, managed + elements}, 6));
    TRY(cudaFree(data));
    TRY(cudaFree(managed));
    TRY(cudaFreeHost(pinned));
    void* const own = std::aligned_alloc(4096, 1 << 16);
    TRY(cudaHostRegister(own, 1 << 16, cudaHostRegisterDefault));
    TRY(cudaHostUnregister(own));
    std::free(own);
    return cudaSuccess;
}

cudaMemPoolProps on_device_0() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = 0;
    return properties;
}

cudaError_t use_pools(cudaStream_t stream) {
    auto const properties = on_device_0();
    cudaMemPool_t own = nullptr;
    cudaMemPool_t standard = nullptr;
    void* from_own = nullptr;
    void* from_standard = nullptr;
    std::uint64_t used = 1;
    TRY(cudaMemPoolCreate(&own, &properties));
    TRY(cudaDeviceGetDefaultMemPool(&standard, 0));
    TRY(cudaMallocFromPoolAsync(&from_own, bytes, own, stream));
    TRY(cudaMallocAsync(&from_standard, bytes, stream));
    TRY(cudaMemsetAsync(from_standard, 0, bytes, stream));
    TRY(cudaFreeAsync(from_standard, stream));
    TRY(cudaFreeAsync(from_own, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    TRY(cudaMemPoolTrimTo(own, 0));
    TRY(cudaMemPoolDestroy(own));
    fact("bytes used in the pool after the free", static_cast<long long>(used));
    return cudaSuccess;
}

cudaError_t use_streams(cudaStream_t stream) {
    cudaStream_t other = nullptr;
    cudaEvent_t event = nullptr;
    callbacks_run = 0;
    TRY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(cudaLaunchHostFunc(stream, count_callback, nullptr));
    TRY(cudaEventRecord(event, stream));
    TRY(cudaStreamWaitEvent(other, event, 0));
    TRY(cudaStreamAddCallback(other, count_stream_callback, nullptr, 0));
    TRY(cudaStreamSynchronize(other));
    TRY(cudaEventSynchronize(event));
    TRY(cudaEventDestroy(event));
    TRY(cudaStreamDestroy(other));
    expect("callbacks run twice", callbacks_run == 2);
    return cudaSuccess;
}

// A graph with a payload that it owns alone: `memset → host function`.
cudaError_t build_graph(void* data, cudaGraph_t& graph) {
    cudaUserObject_t payload = nullptr;
    cudaGraphNode_t set = nullptr;
    cudaGraphNode_t call = nullptr;
    cudaMemsetParams memset{};
    memset.dst = data;
    memset.elementSize = 4;
    memset.width = elements;
    memset.height = 1;
    cudaHostNodeParams host{};
    host.fn = count_callback;
    host.userData = &callbacks_run;
    TRY(cudaGraphCreate(&graph, 0));
    TRY(cudaUserObjectCreate(&payload, &payloads_destroyed, count_payload, 1, cudaUserObjectNoDestructorSync));
    TRY(cudaGraphRetainUserObject(graph, payload, 1, cudaGraphUserObjectMove));
    TRY(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &memset));
    TRY(cudaGraphAddHostNode(&call, graph, &set, 1, &host));
    cudaHostNodeParams seen{};
    TRY(cudaGraphHostNodeGetParams(call, &seen));
    expect("host node reads back as written", seen.fn == host.fn && seen.userData == host.userData);
    return cudaSuccess;
}

cudaError_t replay(cudaGraphExec_t executable, cudaStream_t stream, int times) {
    for (int i = 0; i < times; ++i) TRY(cudaGraphLaunch(executable, stream));
    TRY(cudaStreamSynchronize(stream));
    return cudaSuccess;
}

cudaError_t use_graphs(cudaStream_t stream) {
    void* data = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraph_t next = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaGraphExecUpdateResultInfo info{};
    payloads_destroyed = 0;
    callbacks_run = 0;
    TRY(cudaMalloc(&data, bytes));
    TRY(build_graph(data, graph));
    TRY(cudaGraphInstantiate(&executable, graph, 0));
    TRY(cudaGraphDestroy(graph));
    TRY(replay(executable, stream, 3));
    expect("payload lives while the executable graph does", payloads_destroyed == 0);
    TRY(build_graph(data, next));
    TRY(cudaGraphExecUpdate(executable, next, &info));
    expect("first payload gone after the update", reaches(payloads_destroyed, 1));
    TRY(replay(executable, stream, 2));
    TRY(cudaGraphExecDestroy(executable));
    TRY(cudaGraphDestroy(next));
    expect("second payload gone", reaches(payloads_destroyed, 2));
    expect("host nodes run 5 times", callbacks_run == 5);
    TRY(cudaFree(data));
    return cudaSuccess;
}

cudaError_t capture(cudaStream_t stream) {
    std::uint32_t* scratch = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    callbacks_run = 0;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    TRY(cudaMallocAsync(&scratch, bytes, stream));
    TRY(cudaMemsetAsync(scratch, 0, bytes, stream));
    TRY(launch_add(scratch, 1, stream));
    TRY(cudaLaunchHostFunc(stream, count_callback, nullptr));
    TRY(cudaFreeAsync(scratch, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&executable, graph, 0));
    TRY(replay(executable, stream, 4));
    TRY(cudaGraphExecDestroy(executable));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaDeviceGraphMemTrim(0));
    expect("captured host function run 4 times", callbacks_run == 4);
    return cudaSuccess;
}

// Stream 0 of the calling thread: its own under `--default-stream per-thread`.
cudaError_t on_default_stream() {
    void* data = nullptr;
    TRY(cudaMallocAsync(&data, bytes, nullptr));
    TRY(cudaMemsetAsync(data, 1, bytes, nullptr));
    TRY(cudaFreeAsync(data, nullptr));
    TRY(cudaStreamSynchronize(nullptr));
    return cudaSuccess;
}

cudaError_t use_threads(cudaStream_t) {
    std::vector<cudaError_t> results(4);
    std::vector<std::thread> threads;
    for (auto& result : results) threads.emplace_back([&result] { result = on_default_stream(); });
    for (auto& thread : threads) thread.join();
    for (auto const result : results) TRY(result);
    return cudaSuccess;
}

// The planted faults, all of which a report must name.

// user-object-leak: an executable graph that is never destroyed holds a payload, with the 3 MiB that its node sets.
cudaError_t leave_graph(cudaStream_t stream) {
    void* kept = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    payloads_destroyed = 0;
    TRY(cudaMalloc(&kept, 3 << 20));
    TRY(build_graph(kept, graph));
    TRY(cudaGraphInstantiate(&executable, graph, 0));
    TRY(cudaGraphDestroy(graph));
    TRY(replay(executable, stream, 1));
    expect("payload of the leaked executable graph lives", payloads_destroyed == 0);
    return cudaSuccess;
}

// ptds-cross-thread-free, in the per-thread builds only: allocated on this thread's stream 0, freed on another's.
cudaError_t free_elsewhere(cudaStream_t) {
    void* moved = nullptr;
    TRY(cudaMallocAsync(&moved, bytes, nullptr));
    TRY(cudaMemsetAsync(moved, 0, bytes, nullptr));  // and nobody waits for it
    cudaError_t freed = cudaSuccess;
    std::thread{[&] { freed = cudaFreeAsync(moved, nullptr); }}.join();
    fact("free on another thread", static_cast<long long>(freed));
    return cudaSuccess;
}

// allocation-leak: 5 MiB that nobody frees.
cudaError_t forget_memory(cudaStream_t) {
    void* forgotten = nullptr;
    return cudaMalloc(&forgotten, 5 << 20);
}

using part = cudaError_t (*)(cudaStream_t);
constexpr std::pair<char const*, part> parts[] = {
    {"kernel", run_kernel},
    {"host memory", use_host_memory},
    {"pools", use_pools},
    {"streams", use_streams},
    {"graphs", use_graphs},
    {"capture", capture},
    {"threads", use_threads},
    {"planted graph", leave_graph},
    {"planted free", free_elsewhere},
    {"planted memory", forget_memory},
};

int run() {
    cudaStream_t stream = nullptr;
    if (auto const result = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); result != cudaSuccess) {
        failed("cudaStreamCreateWithFlags", result);
        return 1;
    }
    int status = 0;
    for (auto const& [name, run_part] : parts) {
        auto const result = run_part(stream);
        std::printf("%s: %s\n", name, result == cudaSuccess ? "ok" : "FAILED");
        if (result != cudaSuccess) status = 1;
    }
    return all_as_expected ? status : 1;
}

}  // namespace
}  // namespace lastref::gpu_test

int main() {
    return lastref::gpu_test::run();
}
