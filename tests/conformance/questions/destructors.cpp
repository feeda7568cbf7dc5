// When, where and in which order destructors run, and what they may do.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "payloads.h"

namespace lastref::conformance {
namespace {

void destructors_threads() {
    start();
    CUstream const stream = make_stream();
    payload &first = make_payload(), &second = make_payload(), &function = make_payload();
    ASK(cuUserObjectRelease(make_object(first), 1));
    destroyed_is("first destroyed", first);
    ASK(cuUserObjectRelease(make_object(second), 1));
    destroyed_is("second destroyed", second);
    ask("both on one thread", first.thread == second.thread);
    ASK(cuLaunchHostFunc(stream, destroy, &function));
    ASK(cuStreamSynchronize(stream));
    ask("host functions on the destructors' thread", function.thread == first.thread);
}

std::string order_of_destruction;

template <char name>
void CUDA_CB note(void*) {
    order_of_destruction += name;
}

// Objects of launches that were held up: their destructors run when no call of this thread ends them.
void destructors_threads_after_launches() {
    start();
    payload &first = make_payload(), &second = make_payload();
    CUstream const stream = make_stream();
    for (payload* const what : {&first, &second}) {
        CUgraph const graph = holding(*what);
        CUgraphExec exec = nullptr;
        ASK(cuGraphInstantiate(&exec, graph, 0));
        gate held(stream);
        ASK(cuGraphLaunch(exec, stream));
        ASK(cuGraphDestroy(graph));
        ASK(cuGraphExecDestroy(exec));
        held.open();
        destroyed_is("destroyed", *what);
    }
    ask("both on one thread", first.thread == second.thread);
}

void release_waits_for_destructor() {
    start();
    static std::atomic<int> ended{0};
    CUuserObject object = nullptr;
    ASK(cuUserObjectCreate(
        &object, &ended,
        [](void* counter) {
            settle(50);
            ++*static_cast<std::atomic<int>*>(counter);
        },
        1, 1));
    ASK(cuUserObjectRelease(object, 1));
    ask_number("destructor has ended when the release returns", ended);
}

// The work that callbacks ask for goes to an idle stream, what they destroy nobody uses again: a real driver refuses
// only some of these calls, and a stream that waits for its own host function waits for ever.
struct results {
    CUstream stream = nullptr, idle = nullptr, spare_stream = nullptr;
    CUevent event = nullptr, spare_event = nullptr;
    CUdeviceptr memory = 0, ordered = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr, launched = nullptr;
    CUuserObject other = nullptr;
    CUcontext context = nullptr;
    CUmemoryPool pool = nullptr;
};

void CUDA_CB ask_all_calls(void* data) {
    auto& s = *static_cast<results*>(data);
    int value = 0;
    unsigned flags = 0;
    CUdevice device = 0;
    CUdeviceptr made = 0;
    CUcontext now = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    CUuserObject object = nullptr;
    std::size_t free = 0, total = 0;
    CUstreamCaptureStatus status{};
    char const* text = nullptr;
    ASK(cuMemFree(s.memory));
    ASK(cuMemFreeAsync(s.ordered, s.idle));
    ASK(cuMemAllocAsync(&made, 64, s.idle));
    ASK(cuMemGetInfo(&free, &total));
    ASK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.memory));
    ASK(cuStreamCreate(&stream, 0));
    ASK(cuStreamIsCapturing(s.idle, &status));
    ASK(cuStreamGetFlags(s.idle, &flags));
    ASK(cuStreamQuery(s.idle));
    ASK(cuEventCreate(&event, 0));
    ASK(cuEventQuery(s.event));
    ASK(cuEventRecord(s.event, s.idle));
    ASK(cuStreamWaitEvent(s.idle, s.event, 0));
    ASK(cuEventSynchronize(s.event));
    ASK(cuEventDestroy(s.spare_event));
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphExecDestroy(s.exec));
    ASK(cuGraphDestroy(s.graph));
    ASK(cuUserObjectCreate(&object, nullptr, nothing, 1, 1));
    ASK(cuUserObjectRetain(s.other, 1));
    ASK(cuUserObjectRelease(s.other, 1));
    ASK(cuCtxGetCurrent(&now));
    ASK(cuCtxSetCurrent(s.context));
    ASK(cuCtxGetDevice(&device));
    ASK(cuDeviceGet(&device, 0));
    ASK(cuDeviceGetCount(&value));
    ASK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ASK(cuDevicePrimaryCtxRetain(&now, 0));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuMemPoolTrimTo(s.pool, 0));
    ASK(cuMemPoolDestroy(s.pool));
    ASK(cuMemsetD8Async(s.memory, 1, 16, s.idle));
    ASK(cuLaunchHostFunc(s.idle, nothing, nullptr));
    ASK(cuGraphLaunch(s.launched, s.idle));
    ASK(cuStreamDestroy(s.spare_stream));
    ASK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
}

results& make_results() {
    auto& s = *new results;
    CUgraphNode node = nullptr;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    s.context = start();
    for (CUstream* each : {&s.stream, &s.idle, &s.spare_stream}) *each = make_stream();
    for (CUevent* each : {&s.event, &s.spare_event}) cuEventCreate(each, 0);
    cuMemAlloc(&s.memory, 4096);
    cuMemAllocAsync(&s.ordered, 4096, s.stream);
    cuGraphCreate(&s.graph, 0);
    cuGraphAddEmptyNode(&node, s.graph, nullptr, 0);
    for (CUgraphExec* each : {&s.exec, &s.launched}) cuGraphInstantiate(each, s.graph, 0);
    cuUserObjectCreate(&s.other, nullptr, nothing, 2, 1);
    cuMemPoolCreate(&s.pool, &props);
    cuStreamSynchronize(s.stream);
    return s;
}

void calls_in_destructor() {
    results& s = make_results();
    CUuserObject object = nullptr;
    ASK(cuUserObjectCreate(&object, &s, ask_all_calls, 1, 1));
    ASK(cuUserObjectRelease(object, 1));
    settle(200);
    ask("cuMemFree after it", cuMemFree(s.memory));
    ask("cuStreamSynchronize after it", cuStreamSynchronize(s.stream));
}

// On an idle stream; within a host function no stream's end is asked for but that of a stream that has nothing to do.
void CUDA_CB ask_synchronizations(void* data) {
    auto& s = *static_cast<results*>(data);
    ASK(cuStreamSynchronize(s.idle));
    ASK(cuCtxSynchronize());
}

void synchronizations_in_destructor() {
    results& s = make_results();
    CUuserObject object = nullptr;
    ASK(cuUserObjectCreate(&object, &s, ask_synchronizations, 1, 1));
    ASK(cuUserObjectRelease(object, 1));
}

void calls_in_host_function() {
    results& s = make_results();
    ASK(cuLaunchHostFunc(s.stream, ask_all_calls, &s));
    ASK(cuStreamSynchronize(s.stream));
    ask("cuMemFree after it", cuMemFree(s.memory));
}

void order_of_destructors() {
    start();
    order_of_destruction.clear();
    CUgraph const graph = make_graph_with_node();
    CUuserObject objects[3] = {};
    CUhostFn const notes[] = {note<'a'>, note<'b'>, note<'c'>};
    for (int index = 0; index < 3; ++index) {
        cuUserObjectCreate(&objects[index], nullptr, notes[index], 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
        ASK(cuGraphRetainUserObject(graph, objects[index], 1, CU_GRAPH_USER_OBJECT_MOVE));
    }
    ASK(cuGraphDestroy(graph));
    settle(100);
    ask_text("order of one graph's destructors", order_of_destruction);
}

void order_of_releases() {
    start();
    order_of_destruction.clear();
    CUuserObject objects[3] = {};
    CUhostFn const notes[] = {note<'a'>, note<'b'>, note<'c'>};
    for (int index = 0; index < 3; ++index)
        cuUserObjectCreate(&objects[index], nullptr, notes[index], 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    for (int index : {2, 0, 1}) ASK(cuUserObjectRelease(objects[index], 1));
    settle(100);
    ask_text("order of destructors released as c a b", order_of_destruction);
}

// What is held when the process ends: counted in memory that a parent process sees too.
template <class Hold>
void at_exit(char const* question, Hold hold) {
    auto* const seen =
        static_cast<std::atomic<int>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (pid_t const child = fork(); child != 0) {
        waitpid(child, nullptr, 0);
        ask_number(question, *seen);
        return;
    }
    CUuserObject object = nullptr;
    start();
    cuUserObjectCreate(&object, seen, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    hold(object);
    std::exit(0);
}

void objects_at_exit() {
    at_exit("held by the caller", [](CUuserObject) {});
    at_exit("held by a graph",
            [](CUuserObject object) { cuGraphRetainUserObject(make_graph_with_node(), object, 1, 1); });
    at_exit("held by an executable graph", [](CUuserObject object) {
        CUgraph const graph = make_graph_with_node();
        CUgraphExec exec = nullptr;
        cuGraphRetainUserObject(graph, object, 1, 1);
        cuGraphInstantiate(&exec, graph, 0);
        cuGraphDestroy(graph);
    });
    at_exit("held by an executable graph of a reset device", [](CUuserObject object) {
        CUgraph const graph = make_graph_with_node();
        CUgraphExec exec = nullptr;
        cuGraphRetainUserObject(graph, object, 1, 1);
        cuGraphInstantiate(&exec, graph, 0);
        cuGraphDestroy(graph);
        cuDevicePrimaryCtxReset(0);
        settle(50);
    });
}

}  // namespace

group const destructor_groups[] = {{"destructors_threads", destructors_threads},
                                   {"destructors_threads_after_launches", destructors_threads_after_launches},
                                   {"release_waits_for_destructor", release_waits_for_destructor},
                                   {"calls_in_destructor", calls_in_destructor, alone},
                                   {"synchronizations_in_destructor", synchronizations_in_destructor, alone},
                                   {"calls_in_host_function", calls_in_host_function, alone},
                                   {"order_of_destructors", order_of_destructors},
                                   {"order_of_releases", order_of_releases},
                                   {"objects_at_exit", objects_at_exit, alone},
                                   {nullptr, nullptr}};

}  // namespace lastref::conformance
