// Captures in their three modes beside threads in theirs, captures into graphs, and what a capture records.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

char const* const mode_names[] = {"global", "thread-local", "relaxed"};

CUstreamCaptureMode mode_of(int index) {
    return static_cast<CUstreamCaptureMode>(index);
}

void exchange(int index) {
    CUstreamCaptureMode mode = mode_of(index);
    cuThreadExchangeStreamCaptureMode(&mode);
}

void modes_of_one_thread() {
    start();
    CUstream const stream = make_stream();
    for (int capture = 0; capture < 3; ++capture)
        for (int thread = 0; thread < 3; ++thread) {
            std::string const which = std::string(mode_names[capture]) + " capture, own thread " + mode_names[thread];
            CUdeviceptr made = 0;
            CUgraph graph = nullptr;
            exchange(thread);
            ask((which + ": begin").c_str(), cuStreamBeginCapture(stream, mode_of(capture)));
            ask((which + ": cuMemAlloc").c_str(), cuMemAlloc(&made, 64));
            ask((which + ": end").c_str(), cuStreamEndCapture(stream, &graph));
            exchange(0);
        }
}

void modes_of_two_threads() {
    CUcontext const context = start();
    CUstream const stream = make_stream();
    for (int capture = 0; capture < 3; ++capture)
        for (int thread = 0; thread < 3; ++thread) {
            std::string const which = std::string(mode_names[capture]) + " capture, other thread " + mode_names[thread];
            CUdeviceptr made = 0;
            CUgraph graph = nullptr;
            ask((which + ": begin").c_str(), cuStreamBeginCapture(stream, mode_of(capture)));
            elsewhere_in(context, [&] {
                exchange(thread);
                ask((which + ": cuMemAlloc").c_str(), cuMemAlloc(&made, 64));
                ask((which + ": cuMemFree").c_str(), cuMemFree(made));
            });
            ask((which + ": end").c_str(), cuStreamEndCapture(stream, &graph));
        }
}

void exchanged_modes() {
    CUcontext const context = start();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ASK(cuThreadExchangeStreamCaptureMode(&mode));
    ask_number("first mode", mode);
    ASK(cuThreadExchangeStreamCaptureMode(&mode));
    ask_number("second mode", mode);
    elsewhere_in(context, [] {
        CUstreamCaptureMode here = CU_STREAM_CAPTURE_MODE_RELAXED;
        cuThreadExchangeStreamCaptureMode(&here);
        ask_number("another thread's first mode", here);
    });
    mode = static_cast<CUstreamCaptureMode>(3);
    ASK(cuThreadExchangeStreamCaptureMode(&mode));
}

// Unsafe calls beside a capture in global mode, each with a capture of its own.
void unsafe_calls_elsewhere() {
    CUcontext const context = start();
    CUstream const stream = make_stream(), other = make_stream();
    CUdeviceptr memory = 0;
    CUevent event = nullptr;
    CUmemoryPool pool = nullptr;
    unsigned char bytes[16] = {};
    void* host = nullptr;
    cuMemAlloc(&memory, 4096);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    cuEventRecord(event, other);
    cuDeviceGetDefaultMemPool(&pool, 0);
    cuCtxSynchronize();
    auto const elsewhere_beside = [&](char const* question, auto call) {
        CUgraph graph = nullptr;
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        elsewhere_in(context, [&] { ask(question, call()); });
        ask((std::string("end after ") + question).c_str(), cuStreamEndCapture(stream, &graph));
    };
    elsewhere_beside("cuMemcpyHtoD", [&] { return cuMemcpyHtoD(memory, bytes, 16); });
    elsewhere_beside("cuMemsetD8", [&] { return cuMemsetD8(memory, 1, 16); });
    elsewhere_beside("cuMemsetD8Async on another stream", [&] { return cuMemsetD8Async(memory, 1, 16, other); });
    elsewhere_beside("cuEventQuery", [&] { return cuEventQuery(event); });
    elsewhere_beside("cuEventSynchronize", [&] { return cuEventSynchronize(event); });
    elsewhere_beside("cuStreamQuery", [&] { return cuStreamQuery(other); });
    elsewhere_beside("cuStreamSynchronize", [&] { return cuStreamSynchronize(other); });
    elsewhere_beside("cuCtxSynchronize", [&] { return cuCtxSynchronize(); });
    elsewhere_beside("cuMemHostAlloc", [&] { return cuMemHostAlloc(&host, 64, 0); });
    elsewhere_beside("cuMemFreeHost", [&] { return cuMemFreeHost(host); });
    elsewhere_beside("cuMemPoolTrimTo", [&] { return cuMemPoolTrimTo(pool, 0); });
    elsewhere_beside("cuMemFree", [&] { return cuMemFree(memory); });
}

void capture_info() {
    start();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    CUgraph graph = nullptr, ended = nullptr;
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0, next = 0;
    CUgraphNode const* dependencies = nullptr;
    std::size_t count = 9;
    cuMemAlloc(&memory, 64);
    ASK(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
    ask_number("status before", status);
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
    ask_number("status inside", status);
    ask_number("dependencies at first", static_cast<long long>(count));
    ASK(cuMemsetD8Async(memory, 1, 16, stream));
    ASK(cuMemsetD8Async(memory, 2, 16, stream));
    ASK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
    ask_number("dependencies after two nodes", static_cast<long long>(count));
    ASK(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    ASK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
    ask_number("dependencies after setting none", static_cast<long long>(count));
    ASK(cuStreamEndCapture(stream, &ended));
    ask("end gives the graph that was shown", graph == ended);
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamGetCaptureInfo(stream, &status, &next, nullptr, nullptr, nullptr, nullptr));
    ask("another capture has another number", id != next);
    CUstreamCaptureStatus other{};
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuStreamGetCaptureInfo(stream, &other, &next, nullptr, nullptr, nullptr, nullptr));
    ask_number("status when invalidated", other);
    ASK(cuStreamEndCapture(stream, &ended));
    ask("graph of an invalidated capture", ended != nullptr);
}

void capture_to_graph() {
    start();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    CUgraph graph = nullptr, ended = nullptr;
    CUgraphNode first = nullptr;
    std::size_t count = 0;
    cuMemAlloc(&memory, 64);
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
    ASK(cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuMemsetD8Async(memory, 1, 16, stream));
    ASK(cuStreamEndCapture(stream, &ended));
    ask("end gives the graph", ended == graph);
    ASK(cuGraphGetNodes(graph, nullptr, &count));
    ask_number("nodes", static_cast<long long>(count));
    ASK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    ask_number("edges", static_cast<long long>(count));
    ASK(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamBeginCaptureToGraph(make_stream(), graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamEndCapture(stream, &ended));
    ASK(cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuStreamEndCapture(stream, &ended));
    ask("end gives a graph after a failure", ended != nullptr);
    ASK(cuGraphGetNodes(graph, nullptr, &count));
    ask_number("nodes after a failure", static_cast<long long>(count));
}

void CUDA_CB count(void* counter) {
    ++*static_cast<std::atomic<int>*>(counter);
}

// The kind of node that a call leaves in a capture.
template <class Call>
void node_of(char const* question, CUstream stream, Call call) {
    CUgraph graph = nullptr;
    CUgraphNode nodes[4] = {};
    std::size_t count = 4;
    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    ask(question, call());
    ask((std::string(question) + ": end").c_str(), cuStreamEndCapture(stream, &graph));
    if (!graph) return;
    cuGraphGetNodes(graph, nodes, &count);
    std::string kinds;
    for (std::size_t index = 0; index < count; ++index) {
        CUgraphNodeType type{};
        cuGraphNodeGetType(nodes[index], &type);
        kinds += " " + std::to_string(static_cast<int>(type));
    }
    ask_text((std::string(question) + ": kinds of node").c_str(), kinds.empty() ? "none" : kinds.substr(1));
}

void captured_kinds() {
    start();
    CUstream const stream = make_stream(), other = make_stream();
    CUdeviceptr memory = 0, made = 0;
    CUevent event = nullptr;
    static std::atomic<int> run{0};
    unsigned char bytes[16] = {};
    void* word = const_cast<unsigned*>(pinned_word());
    cuMemAlloc(&memory, 4096);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    node_of("cuMemsetD8Async", stream, [&] { return cuMemsetD8Async(memory, 1, 16, stream); });
    node_of("cuMemcpyDtoDAsync", stream, [&] { return cuMemcpyDtoDAsync(memory, memory + 64, 16, stream); });
    node_of("cuMemcpyHtoDAsync", stream, [&] { return cuMemcpyHtoDAsync(memory, bytes, 16, stream); });
    node_of("cuMemcpyAsync of nothing", stream, [&] { return cuMemcpyDtoDAsync(memory, memory + 64, 0, stream); });
    node_of("cuMemsetD8Async of nothing", stream, [&] { return cuMemsetD8Async(memory, 1, 0, stream); });
    node_of("cuLaunchHostFunc", stream, [&] { return cuLaunchHostFunc(stream, count, &run); });
    ask_number("captured host function has run", run);
    node_of("cuEventRecord", stream, [&] { return cuEventRecord(event, stream); });
    node_of("cuEventRecordWithFlags, external", stream,
            [&] { return cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL); });
    node_of("cuStreamWaitEvent, external", stream,
            [&] { return cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL); });
    node_of("cuMemAllocAsync", stream, [&] { return cuMemAllocAsync(&made, 4096, stream); });
    node_of("cuStreamWriteValue32", stream,
            [&] { return cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1, 0); });
    node_of("cuMemPrefetchAsync of device memory", stream, [&] {
        return cuMemPrefetchAsync(memory, 64, CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, 0, stream);
    });
    node_of("cuStreamAttachMemAsync of device memory", stream,
            [&] { return cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE); });
    node_of("cuEventRecord on another stream", stream, [&] { return cuEventRecord(event, other); });
}

void launches_of_a_capture() {
    start();
    CUstream const stream = make_stream();
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    static std::atomic<int> run{0};
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuLaunchHostFunc(stream, count, &run));
    ASK(cuLaunchHostFunc(stream, count, &run));
    ASK(cuStreamEndCapture(stream, &graph));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    for (int times = 0; times < 3; ++times) ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("host functions that ran", run);
}

void object_in_capture() {
    start();
    CUstream const stream = make_stream();
    CUgraph graph = nullptr, shown = nullptr;
    CUuserObject object = nullptr;
    CUstreamCaptureStatus status{};
    static std::atomic<int> destroyed{0};
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 1));
    ASK(cuStreamGetCaptureInfo(stream, &status, nullptr, &shown, nullptr, nullptr, nullptr));
    ASK(cuGraphRetainUserObject(shown, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuStreamEndCapture(stream, &graph));
    settle(60);
    ask_number("destroyed while the graph lives", destroyed);
    ASK(cuGraphDestroy(graph));
    ask_number("destroyed with the graph", eventually(destroyed, 1));
}

void object_in_invalidated_capture() {
    start();
    CUstream const stream = make_stream();
    CUgraph graph = nullptr, shown = nullptr;
    CUuserObject object = nullptr;
    CUstreamCaptureStatus status{};
    CUdeviceptr made = 0;
    static std::atomic<int> destroyed{0};
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 1));
    ASK(cuStreamGetCaptureInfo(stream, &status, nullptr, &shown, nullptr, nullptr, nullptr));
    ASK(cuGraphRetainUserObject(shown, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuMemAlloc(&made, 64));
    settle(60);
    ask_number("destroyed when invalidated", destroyed);
    ASK(cuStreamEndCapture(stream, &graph));
    ask_number("destroyed with the end", eventually(destroyed, 1));
}

void legacy_stream_implicit() {
    start();
    CUstream const blocking = make_stream(CU_STREAM_DEFAULT), free = make_stream();
    CUdeviceptr memory = 0;
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status{};
    cuMemAlloc(&memory, 4096);
    ASK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    ask("blocking: legacy is capturing", cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    ask("blocking: legacy memset", cuMemsetD8Async(memory, 1, 16, CU_STREAM_LEGACY));
    ask("blocking: end", cuStreamEndCapture(blocking, &graph));
    ASK(cuStreamBeginCapture(free, CU_STREAM_CAPTURE_MODE_RELAXED));
    ask("non-blocking: legacy is capturing", cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    ask("non-blocking: legacy memset", cuMemsetD8Async(memory, 1, 16, CU_STREAM_LEGACY));
    ask("non-blocking: end", cuStreamEndCapture(free, &graph));
    ASK(cuStreamBeginCapture(free, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("non-blocking, global: legacy memset", cuMemsetD8Async(memory, 1, 16, CU_STREAM_LEGACY));
    ask("non-blocking, global: end", cuStreamEndCapture(free, &graph));
}

}  // namespace

group const capture_mode_groups[] = {{"modes_of_one_thread", modes_of_one_thread},
                                     {"modes_of_two_threads", modes_of_two_threads},
                                     {"exchanged_modes", exchanged_modes},
                                     {"unsafe_calls_elsewhere", unsafe_calls_elsewhere},
                                     {"capture_info", capture_info},
                                     {"capture_to_graph", capture_to_graph},
                                     {"captured_kinds", captured_kinds},
                                     {"launches_of_a_capture", launches_of_a_capture},
                                     {"object_in_capture", object_in_capture},
                                     {"object_in_invalidated_capture", object_in_invalidated_capture},
                                     {"legacy_stream_implicit", legacy_stream_implicit},
                                     {nullptr, nullptr}};

}  // namespace lastref::conformance
