// A program of the driver API, linked with -lcuda: the entry points that lastref hooks, used as they should be, and
// three planted faults at its end. Built plain and with CUDA_API_PER_THREAD_DEFAULT_STREAM, where the same source binds
// to the
// `_ptsz`/`_ptds` symbols.
//
//     driver_api [--simulated]     exit status 0: everything but the planted faults worked
//
// With --simulated the driver cannot run kernels, so that their results are not checked, and may lack parts.
#include "facts.h"

#include <cuda.h>

#include <dlfcn.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace lastref::gpu_test {
namespace {

// NOLINTNEXTLINE: the expression's text and an early return need a macro
#define TRY(call) \
    if (CUresult const try_result = (call); try_result != CUDA_SUCCESS) return failed(#call, try_result)
#define SYMBOL_TEXT(name) #name
#define SYMBOL(name) SYMBOL_TEXT(name)  // after cuda.h's renaming: the ABI symbol that this build binds to

bool simulated = false;

CUresult failed(char const* call, CUresult status) {
    std::printf("failed: %s: %d\n", call, static_cast<int>(status));
    return status;
}

void CUDA_CB count_payload(void*) {
    ++payloads_destroyed;
}
void CUDA_CB count_callback(void*) {
    ++callbacks_run;
}
void CUDA_CB count_stream_callback(CUstream, CUresult, void*) {
    ++callbacks_run;
}

// Adds one to `count` integers. PTX, so that one text serves every GPU.
constexpr char const* kernel_text = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    add.s32 %r6, %r6, 1;
    st.global.u32 [%rd4], %r6;
done:
    ret;
}
)";

constexpr unsigned int elements = 1024;
constexpr std::size_t bytes = elements * sizeof(std::uint32_t);

struct environment {
    CUdevice device = 0;
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUfunction add_one = nullptr;
};

CUresult set_up(environment& env) {
    TRY(cuInit(0));
    TRY(cuDeviceGet(&env.device, 0));
    TRY(cuDevicePrimaryCtxRetain(&env.context, env.device));
    TRY(cuCtxSetCurrent(env.context));
    TRY(cuStreamCreate(&env.stream, CU_STREAM_NON_BLOCKING));
    CUmodule module = nullptr;
    TRY(cuModuleLoadData(&module, kernel_text));
    TRY(cuModuleGetFunction(&env.add_one, module, "add_one"));
    return CUDA_SUCCESS;
}

bool all_equal(std::array<std::uint32_t, elements> const& values, std::uint32_t wanted) {
    for (auto const value : values) {
        if (value != wanted) return false;
    }
    return true;
}

CUresult launch(environment const& env, CUdeviceptr data, CUstream stream) {
    unsigned int count = elements;
    void* arguments[] = {&data, &count};
    return cuLaunchKernel(env.add_one, elements / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr);
}

CUresult run_kernel(environment const& env) {
    CUdeviceptr data = 0;
    std::array<std::uint32_t, elements> values{};
    TRY(cuMemAlloc(&data, bytes));
    TRY(cuMemsetD32(data, 41, elements));
    TRY(launch(env, data, nullptr));
    TRY(cuCtxSynchronize());
    TRY(cuMemcpyDtoH(values.data(), data, bytes));
    TRY(cuMemFree(data));
    expect("kernel added one", simulated || all_equal(values, 42));
    return CUDA_SUCCESS;
}

CUresult copy_memory(environment const& env) {
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    std::array<std::uint32_t, elements> values{};
    values.fill(7);
    TRY(cuMemAlloc(&from, bytes));
    TRY(cuMemAlloc(&to, bytes));
    TRY(cuMemcpyHtoD(from, values.data(), bytes));
    TRY(cuCtxSynchronize());  // a copy from pageable memory may return before it is done
    TRY(cuMemcpyDtoDAsync(to, from, bytes, env.stream));
    TRY(cuMemsetD8Async(from, 0, bytes, env.stream));
    TRY(cuStreamSynchronize(env.stream));
    values.fill(0);
    TRY(cuMemcpyDtoH(values.data(), to, bytes));
    TRY(cuMemFree(from));
    TRY(cuMemFree(to));
    expect("copied", all_equal(values, 7));
    return CUDA_SUCCESS;
}

CUresult use_host_memory(environment const&) {
    void* pinned = nullptr;
    void* mapped = nullptr;
    constexpr std::size_t size = 1 << 16;
    TRY(cuMemAllocHost(&pinned, size));
    TRY(cuMemHostAlloc(&mapped, size, CU_MEMHOSTALLOC_PORTABLE));
    TRY(cuMemFreeHost(mapped));
    TRY(cuMemFreeHost(pinned));
    void* const own = std::aligned_alloc(4096, size);
    TRY(cuMemHostRegister(own, size, CU_MEMHOSTREGISTER_PORTABLE));
    TRY(cuMemHostUnregister(own));
    std::free(own);
    return CUDA_SUCCESS;
}

CUresult use_other_memory(environment const&) {
    CUdeviceptr managed = 0;
    CUdeviceptr pitched = 0;
    std::size_t pitch = 0;
    TRY(cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL));
    TRY(cuMemFree(managed));
    TRY(cuMemAllocPitch(&pitched, &pitch, 100, 10, 4));
    TRY(cuMemFree(pitched));
    CUarray array = nullptr;
    CUDA_ARRAY_DESCRIPTOR const shape{.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    TRY(cuArrayCreate(&array, &shape));
    TRY(cuArrayDestroy(array));
    return CUDA_SUCCESS;
}

CUmemAllocationProp on_device(environment const& env) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = env.device;
    return properties;
}

CUresult map_memory(environment const& env) {
    auto const properties = on_device(env);
    std::size_t size = 0;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    TRY(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRY(cuMemCreate(&handle, size, &properties, 0));
    TRY(cuMemAddressReserve(&address, size, 0, 0, 0));
    TRY(cuMemMap(address, size, 0, handle, 0));
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    TRY(cuMemSetAccess(address, size, &access, 1));
    TRY(cuMemUnmap(address, size));
    TRY(cuMemRelease(handle));
    TRY(cuMemAddressFree(address, size));
    return CUDA_SUCCESS;
}

CUresult use_pools(environment const& env) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = env.device;
    CUmemoryPool own = nullptr;
    CUmemoryPool standard = nullptr;
    CUdeviceptr from_own = 0;
    CUdeviceptr from_standard = 0;
    cuuint64_t threshold = 1 << 20;
    cuuint64_t used = 1;
    TRY(cuMemPoolCreate(&own, &properties));
    TRY(cuDeviceGetDefaultMemPool(&standard, env.device));
    TRY(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    TRY(cuMemAllocFromPoolAsync(&from_own, bytes, own, env.stream));
    TRY(cuMemAllocAsync(&from_standard, bytes, env.stream));
    TRY(cuMemFreeAsync(from_standard, env.stream));
    TRY(cuMemFreeAsync(from_own, env.stream));
    TRY(cuStreamSynchronize(env.stream));
    TRY(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    TRY(cuMemPoolTrimTo(own, 0));
    TRY(cuMemPoolDestroy(own));
    fact("bytes used in the pool after the free", static_cast<long long>(used));
    return CUDA_SUCCESS;
}

CUresult use_streams(environment const& env) {
    CUstream other = nullptr;
    CUevent event = nullptr;
    callbacks_run = 0;
    TRY(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuLaunchHostFunc(env.stream, count_callback, nullptr));
    TRY(cuEventRecord(event, env.stream));
    TRY(cuStreamWaitEvent(other, event, 0));
    TRY(cuStreamAddCallback(other, count_stream_callback, nullptr, 0));
    TRY(cuStreamSynchronize(other));
    TRY(cuEventSynchronize(event));
    TRY(cuEventQuery(event));
    TRY(cuStreamQuery(other));
    TRY(cuEventDestroy(event));
    TRY(cuStreamDestroy(other));
    expect("callbacks run twice", callbacks_run == 2);
    return CUDA_SUCCESS;
}

// A graph with a payload that it owns alone: `memset → host function`.
CUresult build_graph(CUdeviceptr data, environment const& env, CUgraph& graph) {
    CUuserObject payload = nullptr;
    CUgraphNode set = nullptr;
    CUgraphNode call = nullptr;
    CUDA_MEMSET_NODE_PARAMS const memset{
        .dst = data, .pitch = 0, .value = 1, .elementSize = 4, .width = elements, .height = 1};
    CUDA_HOST_NODE_PARAMS const host{.fn = count_callback, .userData = &callbacks_run};
    TRY(cuGraphCreate(&graph, 0));
    TRY(cuUserObjectCreate(&payload, &payloads_destroyed, count_payload, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuGraphRetainUserObject(graph, payload, 1, CU_GRAPH_USER_OBJECT_MOVE));
    TRY(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &memset, env.context));
    TRY(cuGraphAddHostNode(&call, graph, &set, 1, &host));
    CUDA_HOST_NODE_PARAMS seen{};
    TRY(cuGraphHostNodeGetParams(call, &seen));
    expect("host node reads back as written", seen.fn == host.fn && seen.userData == host.userData);
    return CUDA_SUCCESS;
}

CUresult replay(CUgraphExec executable, CUstream stream, int times) {
    for (int i = 0; i < times; ++i) TRY(cuGraphLaunch(executable, stream));
    TRY(cuStreamSynchronize(stream));
    return CUDA_SUCCESS;
}

CUresult use_graphs(environment const& env) {
    CUdeviceptr data = 0;
    CUgraph graph = nullptr;
    CUgraph clone = nullptr;
    CUgraph next = nullptr;
    CUgraphExec executable = nullptr;
    payloads_destroyed = 0;
    callbacks_run = 0;
    TRY(cuMemAlloc(&data, bytes));
    TRY(build_graph(data, env, graph));
    TRY(cuGraphClone(&clone, graph));
    TRY(cuGraphInstantiate(&executable, graph, 0));
    TRY(cuGraphUpload(executable, env.stream));
    TRY(replay(executable, env.stream, 3));
    TRY(cuGraphDestroy(graph));
    expect("payload lives while clone and executable graph do", payloads_destroyed == 0);
    TRY(build_graph(data, env, next));
    CUgraphExecUpdateResultInfo info{};
    TRY(cuGraphExecUpdate(executable, next, &info));
    TRY(cuGraphDestroy(clone));
    expect("first payload gone after update and clone's end", reaches(payloads_destroyed, 1));
    TRY(replay(executable, env.stream, 2));
    TRY(cuGraphExecDestroy(executable));
    TRY(cuGraphDestroy(next));
    expect("second payload gone", reaches(payloads_destroyed, 2));
    expect("host nodes run 5 times", callbacks_run == 5);
    TRY(cuMemFree(data));
    return CUDA_SUCCESS;
}

// Stream-ordered memory, a kernel and a host function, captured and replayed.
CUresult capture(environment const& env) {
    CUdeviceptr scratch = 0;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    callbacks_run = 0;
    CUstreamCaptureStatus status{};
    TRY(cuStreamBeginCapture(env.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    TRY(cuStreamIsCapturing(env.stream, &status));
    TRY(cuMemAllocAsync(&scratch, bytes, env.stream));
    TRY(cuMemsetD32Async(scratch, 1, elements, env.stream));
    TRY(launch(env, scratch, env.stream));
    TRY(cuLaunchHostFunc(env.stream, count_callback, nullptr));
    TRY(cuMemFreeAsync(scratch, env.stream));
    TRY(cuStreamEndCapture(env.stream, &graph));
    TRY(cuGraphInstantiate(&executable, graph, 0));
    TRY(replay(executable, env.stream, 4));
    TRY(cuGraphExecDestroy(executable));
    TRY(cuGraphDestroy(graph));
    TRY(cuDeviceGraphMemTrim(env.device));
    expect("capturing", status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    expect("captured host function run 4 times", callbacks_run == 4);
    return CUDA_SUCCESS;
}

CUresult use_contexts(environment const& env) {
    CUcontext own = nullptr;
    CUcontext popped = nullptr;
    CUcontext current = nullptr;
    CUdeviceptr data = 0;
    TRY(cuCtxCreate(&own, nullptr, 0, env.device));
    TRY(cuMemAlloc(&data, bytes));
    TRY(cuMemFree(data));
    TRY(cuCtxPopCurrent(&popped));
    TRY(cuCtxPushCurrent(own));
    TRY(cuCtxSynchronize());
    TRY(cuCtxDestroy(own));
    TRY(cuCtxSetCurrent(env.context));
    TRY(cuCtxGetCurrent(&current));
    expect("popped what was made", popped == own);
    expect("current again", current == env.context);
    return CUDA_SUCCESS;
}

CUresult on_own_default_stream(environment const& env) {
    CUdeviceptr data = 0;
    TRY(cuCtxSetCurrent(env.context));
    TRY(cuMemAllocAsync(&data, bytes, CU_STREAM_PER_THREAD));
    TRY(cuMemsetD32Async(data, 1, elements, CU_STREAM_PER_THREAD));
    TRY(cuMemFreeAsync(data, CU_STREAM_PER_THREAD));
    TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return CUDA_SUCCESS;
}

CUresult use_threads(environment const& env) {
    std::array<CUresult, 4> results{};
    std::vector<std::thread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = on_own_default_stream(env); });
    for (auto& thread : threads) thread.join();
    for (auto const result : results) TRY(result);
    return CUDA_SUCCESS;
}

// The three ways to an entry point must give one function: a program may compare them, and a call through any is one
// call.
CUresult look_up(environment const& env) {
    using alloc_function = CUresult (*)(CUdeviceptr*, std::size_t, CUstream);
    using free_function = CUresult (*)(CUdeviceptr, CUstream);
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* obtained = nullptr;
    CUdriverProcAddressQueryResult found{};
    TRY(cuGetProcAddress("cuMemAllocAsync", &obtained, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    void* const by_name = dlsym(driver, SYMBOL(cuMemFreeAsync));
    CUdeviceptr data = 0;
    TRY(reinterpret_cast<alloc_function>(obtained)(&data, bytes, env.stream));
    TRY(reinterpret_cast<free_function>(by_name)(data, env.stream));
    expect("cuGetProcAddress and dlsym agree", obtained == dlsym(driver, SYMBOL(cuMemAllocAsync)));
    expect("linked and dlsym agree", by_name == reinterpret_cast<void*>(&cuMemFreeAsync));
    expect("unknown name is not found", dlsym(driver, "cuNoSuchFunction") == nullptr);
    return CUDA_SUCCESS;
}

// The planted faults, all of which a report must name.

// user-object-leak: an executable graph that is never destroyed holds a payload, with the 3 MiB that its node sets.
CUresult leave_graph(environment const& env) {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    CUdeviceptr kept = 0;
    payloads_destroyed = 0;
    TRY(cuMemAlloc(&kept, 3 << 20));
    TRY(build_graph(kept, env, graph));
    TRY(cuGraphInstantiate(&executable, graph, 0));
    TRY(cuGraphDestroy(graph));
    TRY(replay(executable, env.stream, 1));
    expect("payload of the leaked executable graph lives", payloads_destroyed == 0);
    return CUDA_SUCCESS;
}

// failed-free: a free on the legacy stream by a thread without a context fails and is never made good.
CUresult free_without_context(environment const& env) {
    CUdeviceptr lost = 0;
    TRY(cuMemAllocAsync(&lost, bytes, env.stream));
    TRY(cuStreamSynchronize(env.stream));
    CUresult freed = CUDA_SUCCESS;
    std::thread{[&] { freed = cuMemFreeAsync(lost, CU_STREAM_LEGACY); }}.join();
    fact("free without a context", static_cast<long long>(freed));
    return CUDA_SUCCESS;
}

// allocation-leak: 5 MiB that nobody frees.
CUresult forget_memory(environment const&) {
    CUdeviceptr forgotten = 0;
    TRY(cuMemAlloc(&forgotten, 5 << 20));
    return CUDA_SUCCESS;
}

using part = CUresult (*)(environment const&);
constexpr std::pair<char const*, part> parts[] = {
    {"kernel", run_kernel},
    {"copies", copy_memory},
    {"host memory", use_host_memory},
    {"other memory", use_other_memory},
    {"mapped memory", map_memory},
    {"pools", use_pools},
    {"streams", use_streams},
    {"graphs", use_graphs},
    {"capture", capture},
    {"contexts", use_contexts},
    {"threads", use_threads},
    {"lookup", look_up},
    {"planted graph", leave_graph},
    {"planted free", free_without_context},
    {"planted memory", forget_memory},
};

int run() {
    environment env;
    if (set_up(env) != CUDA_SUCCESS) return 1;
    int status = 0;
    for (auto const& [name, run_part] : parts) {
        auto const result = run_part(env);
        bool const left_out = simulated && result == CUDA_ERROR_NOT_SUPPORTED;
        std::printf("%s: %s\n", name, result == CUDA_SUCCESS ? "ok" : left_out ? "not simulated" : "FAILED");
        if (result != CUDA_SUCCESS && !left_out) status = 1;
    }
    return all_as_expected ? status : 1;
}

}  // namespace
}  // namespace lastref::gpu_test

int main(int count, char** arguments) {
    lastref::gpu_test::simulated = count > 1 && std::string_view{arguments[1]} == "--simulated";
    return lastref::gpu_test::run();
}
