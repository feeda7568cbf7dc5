#include <cstdlib>

#include "questions.h"

namespace lastref::conformance {
namespace {

struct setting {
    CUcontext context = start();
    CUstream stream = make_stream(CU_STREAM_DEFAULT), other = make_stream(CU_STREAM_DEFAULT);
    CUevent event = nullptr;
    CUdeviceptr memory = 0, ordered = 0;

    setting() {
        cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        cuMemAlloc(&memory, 4096);
        cuMemAllocAsync(&ordered, 4096, stream);
        cuCtxSynchronize();
    }

    void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        cuStreamBeginCapture(stream, mode);
        cuMemsetD8Async(memory, 1, 16, stream);
    }

    CUresult end(CUstream on = nullptr) {
        CUgraph graph = nullptr;
        return cuStreamEndCapture(on ? on : stream, &graph);
    }

    // One call inside a capture, and whether the capture has survived it.
    template <class Call>
    void inside(char const* question, Call call, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        char line[128];
        begin(mode);
        ask(question, call());
        std::snprintf(line, sizeof line, "end after %s", question);
        ask(line, end());
    }
};

void begin_and_end() {
    setting s;
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status{};
    ask("begin on legacy", cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("begin on zero", cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("begin in no mode", cuStreamBeginCapture(s.stream, static_cast<CUstreamCaptureMode>(3)));
    ask("end without begin", s.end());
    s.begin();
    ask("begin again", cuStreamBeginCapture(s.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("end after begin again", s.end());
    s.begin();
    ask("capturing: other", cuStreamIsCapturing(s.other, &status));
    ask_number("status of other", status);
    ask("capturing: legacy", cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    ask("end after that", s.end());
    ask("per-thread: begin", cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("per-thread: end", cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
}

void calls_inside() {
    setting s;
    CUdeviceptr made = 0;
    void* host = nullptr;
    CUstream new_stream = nullptr;
    CUevent new_event = nullptr;
    unsigned char bytes[16] = {};
    CUmemoryPool pool = nullptr;
    cuDeviceGetDefaultMemPool(&pool, 0);
    s.inside("cuMemAlloc", [&] { return cuMemAlloc(&made, 64); });
    s.inside(
        "cuMemAlloc, thread-local", [&] { return cuMemAlloc(&made, 64); }, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    s.inside(
        "cuMemAlloc, relaxed", [&] { return cuMemAlloc(&made, 64); }, CU_STREAM_CAPTURE_MODE_RELAXED);
    s.inside("cuMemFree", [&] { return cuMemFree(made); });
    s.inside("cuMemFree of null", [&] { return cuMemFree(0); });
    s.inside("cuMemHostAlloc", [&] { return cuMemHostAlloc(&host, 64, 0); });
    s.inside("cuStreamCreate", [&] { return cuStreamCreate(&new_stream, 0); });
    s.inside("cuEventCreate", [&] { return cuEventCreate(&new_event, 0); });
    s.inside("cuEventQuery of an uncaptured event", [&] { return cuEventQuery(s.event); });
    s.inside("cuEventSynchronize of an uncaptured event", [&] { return cuEventSynchronize(s.event); });
    s.inside("cuStreamQuery of the capturing stream", [&] { return cuStreamQuery(s.stream); });
    s.inside("cuStreamSynchronize of the capturing stream", [&] { return cuStreamSynchronize(s.stream); });
    s.inside("cuStreamQuery of another stream", [&] { return cuStreamQuery(s.other); });
    s.inside("cuStreamSynchronize of another stream", [&] { return cuStreamSynchronize(s.other); });
    s.inside("cuCtxSynchronize", [&] { return cuCtxSynchronize(); });
    s.inside("cuMemPoolTrimTo", [&] { return cuMemPoolTrimTo(pool, 0); });
    s.inside("cuMemcpyHtoD", [&] { return cuMemcpyHtoD(s.memory, bytes, 16); });
    s.inside("cuMemcpyHtoDAsync from pageable memory",
             [&] { return cuMemcpyHtoDAsync(s.memory, bytes, 16, s.stream); });
    s.inside("cuMemsetD8", [&] { return cuMemsetD8(s.memory, 1, 16); });
    s.inside("cuMemsetD8Async on legacy", [&] { return cuMemsetD8Async(s.memory, 1, 16, CU_STREAM_LEGACY); });
    s.inside(
        "cuMemsetD8Async on legacy, relaxed", [&] { return cuMemsetD8Async(s.memory, 1, 16, CU_STREAM_LEGACY); },
        CU_STREAM_CAPTURE_MODE_RELAXED);
    s.inside("cuStreamSynchronize of legacy", [&] { return cuStreamSynchronize(CU_STREAM_LEGACY); });
    s.inside("cuStreamQuery of legacy", [&] { return cuStreamQuery(CU_STREAM_LEGACY); });
    s.inside("cuStreamAddCallback", [&] {
        return cuStreamAddCallback(
            s.stream, [](CUstream, CUresult, void*) {}, nullptr, 0);
    });
    s.inside("cuMemFreeAsync of outside memory", [&] { return cuMemFreeAsync(s.ordered, s.stream); });
    s.inside("cuMemFreeAsync on legacy", [&] { return cuMemFreeAsync(s.ordered, CU_STREAM_LEGACY); });
    s.inside("cuStreamDestroy of another stream", [&] { return cuStreamDestroy(new_stream); });
    s.inside("cuEventDestroy", [&] { return cuEventDestroy(new_event); });
}

// More calls inside, of which some are safe and some are not.
void memory_calls_inside(setting& s) {
    CUmemoryPool pool = nullptr, made_pool = nullptr;
    CUmemPoolProps props{};
    cuuint64_t value = 0;
    CUdeviceptr made = 0;
    std::size_t size = 0;
    void* const page = std::aligned_alloc(4096, 4096);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    cuDeviceGetDefaultMemPool(&pool, 0);
    s.inside("cuMemHostRegister", [&] { return cuMemHostRegister(page, 4096, 0); });
    s.inside("cuMemHostUnregister", [&] { return cuMemHostUnregister(page); });
    s.inside("cuMemAllocManaged", [&] { return cuMemAllocManaged(&made, 64, CU_MEM_ATTACH_GLOBAL); });
    s.inside("cuMemAllocPitch", [&] { return cuMemAllocPitch(&made, &size, 64, 4, 4); });
    s.inside("cuMemPoolCreate", [&] { return cuMemPoolCreate(&made_pool, &props); });
    s.inside("cuMemPoolDestroy", [&] { return cuMemPoolDestroy(made_pool); });
    s.inside("cuMemPoolGetAttribute",
             [&] { return cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value); });
    s.inside("cuMemPoolSetAttribute",
             [&] { return cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value); });
    std::free(page);
}

void stream_calls_inside(setting& s) {
    CUdeviceptr made = 0;
    unsigned char bytes[16] = {};
    s.inside("cuMemAllocAsync on another stream", [&] { return cuMemAllocAsync(&made, 64, s.other); });
    s.inside("cuMemFreeAsync on another stream", [&] { return cuMemFreeAsync(made, s.other); });
    s.inside("cuMemsetD8Async on another stream", [&] { return cuMemsetD8Async(s.memory, 1, 16, s.other); });
    s.inside("cuMemcpyDtoHAsync on another stream, pageable",
             [&] { return cuMemcpyDtoHAsync(bytes, s.memory, 16, s.other); });
    s.inside("cuLaunchHostFunc on another stream", [&] {
        return cuLaunchHostFunc(
            s.other, [](void*) {}, nullptr);
    });
    s.inside("cuStreamAddCallback on another stream", [&] {
        return cuStreamAddCallback(
            s.other, [](CUstream, CUresult, void*) {}, nullptr, 0);
    });
    s.inside("cuEventRecord on another stream", [&] { return cuEventRecord(s.event, s.other); });
    s.inside("cuStreamWaitEvent of another stream", [&] { return cuStreamWaitEvent(s.other, s.event, 0); });
}

void virtual_memory_calls_inside(setting& s) {
    CUmemAllocationProp vmm{};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr range = 0;
    vmm.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    vmm.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    s.inside("cuMemCreate", [&] { return cuMemCreate(&handle, 2 << 20, &vmm, 0); });
    s.inside("cuMemAddressReserve", [&] { return cuMemAddressReserve(&range, 2 << 20, 0, 0, 0); });
    s.inside("cuMemMap", [&] { return cuMemMap(range, 2 << 20, 0, handle, 0); });
    s.inside("cuMemUnmap", [&] { return cuMemUnmap(range, 2 << 20); });
    s.inside("cuMemRelease", [&] { return cuMemRelease(handle); });
    s.inside("cuMemAddressFree", [&] { return cuMemAddressFree(range, 2 << 20); });
}

void graph_calls_inside(setting& s) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr, other_exec = nullptr;
    CUuserObject object = nullptr;
    cuGraphCreate(&graph, 0);
    cuGraphAddEmptyNode(&node, graph, nullptr, 0);
    cuGraphInstantiate(&exec, graph, 0);
    s.inside("cuGraphCreate", [&] { return cuGraphCreate(&graph, 0); });
    s.inside("cuGraphDestroy", [&] { return cuGraphDestroy(graph); });
    s.inside("cuGraphInstantiate", [&] {
        cuGraphCreate(&graph, 0);
        return cuGraphInstantiate(&other_exec, graph, 0);
    });
    s.inside("cuGraphExecDestroy", [&] { return cuGraphExecDestroy(other_exec); });
    s.inside("cuGraphUpload on another stream", [&] { return cuGraphUpload(exec, s.other); });
    s.inside("cuGraphLaunch on another stream", [&] { return cuGraphLaunch(exec, s.other); });
    s.inside("cuGraphLaunch on the capturing stream", [&] { return cuGraphLaunch(exec, s.stream); });
    s.inside("cuUserObjectCreate", [&] {
        return cuUserObjectCreate(
            &object, nullptr, [](void*) {}, 1, 1);
    });
    s.inside("cuUserObjectRelease", [&] { return cuUserObjectRelease(object, 1); });
}

void context_calls_inside(setting& s) {
    CUcontext context = nullptr;
    CUdeviceptr base = 0;
    CUipcMemHandle ipc{};
    std::size_t size = 0, total = 0;
    unsigned type = 0;
    s.inside("cuCtxGetCurrent", [&] { return cuCtxGetCurrent(&context); });
    s.inside("cuCtxSetCurrent", [&] { return cuCtxSetCurrent(s.context); });
    s.inside("cuDevicePrimaryCtxRetain", [&] { return cuDevicePrimaryCtxRetain(&context, 0); });
    s.inside("cuDevicePrimaryCtxRelease", [&] { return cuDevicePrimaryCtxRelease(0); });
    s.inside("cuMemGetInfo", [&] { return cuMemGetInfo(&size, &total); });
    s.inside("cuMemGetAddressRange", [&] { return cuMemGetAddressRange(&base, &size, s.memory); });
    s.inside("cuPointerGetAttribute",
             [&] { return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.memory); });
    s.inside("cuIpcGetMemHandle", [&] { return cuIpcGetMemHandle(&ipc, s.memory); });
    s.inside("cuDeviceGraphMemTrim", [&] { return cuDeviceGraphMemTrim(0); });
    s.inside("cuCtxGetLimit", [&] { return cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE); });
    s.inside("cuCtxSetLimit", [&] { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); });
    s.inside("cuCtxCreate", [&] { return cuCtxCreate(&context, nullptr, 0, 0); });
    cuCtxSetCurrent(s.context);
    s.inside("cuCtxDestroy", [&] { return cuCtxDestroy(context); });
}

void more_calls_inside() {
    setting s;
    memory_calls_inside(s);
    stream_calls_inside(s);
    virtual_memory_calls_inside(s);
    graph_calls_inside(s);
    context_calls_inside(s);
}

void broken() {
    setting s;
    CUdeviceptr made = 0;
    s.begin();
    ask("free on legacy", cuMemFreeAsync(s.ordered, CU_STREAM_LEGACY));
    ask("free on the capturing stream", cuMemFreeAsync(s.ordered, s.stream));
    ask("memset on the capturing stream", cuMemsetD8Async(s.memory, 1, 16, s.stream));
    ask("cuMemAlloc", cuMemAlloc(&made, 64));
    ask("cuEventRecord", cuEventRecord(s.event, s.stream));
    ask("cuStreamQuery of the capturing stream", cuStreamQuery(s.stream));
    ask("end", s.end());
    ask("end again", s.end());
}

void other_threads() {
    setting s;
    CUdeviceptr made = 0;
    auto const on_other = [&](char const* question, auto call) {
        elsewhere([&] {
            cuCtxSetCurrent(s.context);
            ask(question, call());
        });
    };
    s.begin();
    on_other("global: cuMemAlloc elsewhere", [&] { return cuMemAlloc(&made, 64); });
    ask("global: end", s.end());
    s.begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    on_other("thread-local: cuMemAlloc elsewhere", [&] { return cuMemAlloc(&made, 64); });
    ask("thread-local: end", s.end());
    s.begin();
    on_other("global: thread-local elsewhere: cuMemAlloc", [&] {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        cuThreadExchangeStreamCaptureMode(&mode);
        return cuMemAlloc(&made, 64);
    });
    ask("global: end after thread-local elsewhere", s.end());
    s.begin();
    on_other("global: end elsewhere", [&] { return s.end(); });
    ask("global: end here after that", s.end());
    s.begin();
    on_other("global: work elsewhere on the capturing stream",
             [&] { return cuMemsetD8Async(s.memory, 1, 16, s.stream); });
    ask("global: end after work elsewhere", s.end());
    s.begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    on_other("relaxed: end elsewhere", [&] { return s.end(); });
}

void forks() {
    setting s;
    CUevent join = nullptr;
    cuEventCreate(&join, CU_EVENT_DISABLE_TIMING);
    auto const fork = [&] {
        s.begin();
        cuEventRecord(s.event, s.stream);
        cuStreamWaitEvent(s.other, s.event, 0);
        cuMemsetD8Async(s.memory + 64, 1, 16, s.other);
    };
    fork();
    ask("end unjoined", s.end());
    fork();
    ask("end on the forked stream", s.end(s.other));
    ask("end on the origin after that", s.end());
    fork();
    cuEventRecord(join, s.other);
    ask("query of a captured event", cuEventQuery(join));
    ask("end after the query", s.end());
    fork();
    cuEventRecord(join, s.other);
    ask("synchronize with a captured event", cuEventSynchronize(join));
    ask("end after the synchronize", s.end());
    fork();
    cuEventRecord(join, s.other);
    cuStreamWaitEvent(s.stream, join, 0);
    ask("end joined", s.end());
    CUstream const third = make_stream();
    ask("wait for a captured event after the capture", cuStreamWaitEvent(third, join, 0));
    ask("query of a captured event after the capture", cuEventQuery(join));
    cuEventRecord(s.event, third);
    s.begin();
    ask("capturing stream waits for an outside event", cuStreamWaitEvent(s.stream, s.event, 0));
    ask("end after that", s.end());
    fork();
    ask("cuStreamDestroy of the forked stream", cuStreamDestroy(s.other));
    ask("end after the destroy", s.end());
}

void merges() {
    setting s;
    CUgraph graph = nullptr;
    s.begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    cuEventRecord(s.event, s.stream);
    ask("second capture", cuStreamBeginCapture(s.other, CU_STREAM_CAPTURE_MODE_RELAXED));
    ask("wait for an event of another capture", cuStreamWaitEvent(s.other, s.event, 0));
    ask("end of the first", s.end());
    ask("end of the second", cuStreamEndCapture(s.other, &graph));
}

void destroyed_while_capturing() {
    setting s;
    s.begin();
    ask("cuStreamDestroy", cuStreamDestroy(s.stream));
    CUdeviceptr made = 0;
    ask("cuMemAlloc after that", cuMemAlloc(&made, 64));
}

void memory_inside() {
    setting s;
    CUdeviceptr inside = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    std::size_t count = 0;
    s.begin();
    ask("cuMemAllocAsync", cuMemAllocAsync(&inside, 4096, s.stream));
    ask("cuMemFreeAsync", cuMemFreeAsync(inside, s.stream));
    ask("cuMemFreeAsync again", cuMemFreeAsync(inside, s.stream));
    ask("end", cuStreamEndCapture(s.stream, &graph));
    if (!graph) return;
    cuGraphGetNodes(graph, nullptr, &count);
    ask_number("nodes", static_cast<long long>(count));
    ask("instantiate", cuGraphInstantiate(&exec, graph, 0));
    ask("launch", cuGraphLaunch(exec, s.stream));
    ask("free outside", cuMemFreeAsync(inside, s.stream));
    s.begin();
    ask("captured launch", cuGraphLaunch(exec, s.stream));
    ask("end after the captured launch", s.end());
}

void captured_launch() {
    setting s;
    CUgraph graph = nullptr, outer = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphNode nodes[4] = {};
    std::size_t count = 4;
    CUgraphNodeType type{};
    s.begin();
    cuStreamEndCapture(s.stream, &graph);
    cuGraphInstantiate(&exec, graph, 0);
    ask("begin", cuStreamBeginCapture(s.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("launch", cuGraphLaunch(exec, s.stream));
    ask("end", cuStreamEndCapture(s.stream, &outer));
    if (!outer) return;
    cuGraphGetNodes(outer, nodes, &count);
    ask_number("nodes", static_cast<long long>(count));
    cuGraphNodeGetType(nodes[0], &type);
    ask_number("type of the node", type);
}

}  // namespace

group const capture_groups[] = {{"begin_and_end", begin_and_end},
                                {"calls_inside", calls_inside, alone},
                                {"more_calls_inside", more_calls_inside, alone},
                                {"broken", broken},
                                {"other_threads", other_threads, alone},
                                {"forks", forks, alone},
                                {"merges", merges, alone},
                                {"destroyed_while_capturing", destroyed_while_capturing, alone},
                                {"memory_inside", memory_inside, alone},
                                {"captured_launch", captured_launch},
                                {nullptr, nullptr}};

}  // namespace lastref::conformance
