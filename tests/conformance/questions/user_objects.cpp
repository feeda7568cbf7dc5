#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "questions.h"

namespace lastref::conformance {
namespace {

struct payload {
    std::atomic<int> destroyed{0};
    std::thread::id thread;
};

void CUDA_CB destroy(void* data) {
    auto& what = *static_cast<payload*>(data);
    what.thread = std::this_thread::get_id();
    ++what.destroyed;
}

void CUDA_CB count(void* counter) {
    ++*static_cast<std::atomic<int>*>(counter);
}

void CUDA_CB nothing(void*) {}

// Payloads outlive every graph that might hold them.
payload& make_payload() {
    return *new payload;
}

CUuserObject make_object(payload& what, unsigned references = 1) {
    CUuserObject object = nullptr;
    ask("cuUserObjectCreate",
        cuUserObjectCreate(&object, &what, destroy, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

CUgraph make_graph() {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    cuGraphCreate(&graph, 0);
    cuGraphAddEmptyNode(&node, graph, nullptr, 0);
    return graph;
}

// A graph to which the caller's references of a new object have moved.
CUgraph holding(payload& what, unsigned references = 1, CUuserObject* object = nullptr) {
    CUgraph const graph = make_graph();
    CUuserObject const made = make_object(what, references);
    ask("cuGraphRetainUserObject, moved", cuGraphRetainUserObject(graph, made, references, CU_GRAPH_USER_OBJECT_MOVE));
    if (object) *object = made;
    return graph;
}

void destroyed_is(char const* question, payload const& what, int expected_if_any = 1) {
    // A destructor has two seconds to come; where none is due, the wait is short.
    int const count =
        expected_if_any ? eventually(what.destroyed, expected_if_any) : (settle(60), what.destroyed.load());
    ask_number(question, count);
    if (count > 0) ask((std::string(question) + ": on this thread").c_str(), what.thread == std::this_thread::get_id());
}

void user_objects() {
    static std::atomic<int> destroyed{0};
    start();
    CUuserObject object = nullptr;
    CUgraph const graph = make_graph();
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 0));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 0, 1));
    ASK(cuUserObjectCreate(&object, &destroyed, nullptr, 1, 1));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 3));
    ASK(cuUserObjectCreate(
        &object, nullptr, [](void*) {}, 1, 1));
    ASK(cuUserObjectRelease(object, 1));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1u << 31, 1));
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 1));
    ASK(cuUserObjectRetain(object, 0));
    ASK(cuUserObjectRelease(object, 0));
    ASK(cuGraphRetainUserObject(graph, object, 0, 0));
    ASK(cuGraphRetainUserObject(graph, object, 1, 2));
    ASK(cuGraphRetainUserObject(graph, object, 1, 0));
    ASK(cuGraphReleaseUserObject(graph, object, 0));
    ASK(cuGraphReleaseUserObject(graph, object, 1));
    ASK(cuUserObjectRelease(object, 1));
    settle();
    ask_number("destroyed", destroyed);
    ASK(cuGraphDestroy(graph));
}

void over_release() {
    static std::atomic<int> destroyed{0};
    start();
    CUuserObject object = nullptr;
    ASK(cuUserObjectCreate(&object, &destroyed, count, 1, 1));
    ASK(cuUserObjectRelease(object, 2));
    settle();
    ask_number("destroyed", destroyed);
}

void over_release_by_graph() {
    static std::atomic<int> destroyed{0};
    start();
    CUuserObject object = nullptr;
    CUgraph const graph = make_graph();
    ASK(cuUserObjectCreate(&object, &destroyed, count, 2, 1));
    ASK(cuGraphReleaseUserObject(graph, object, 1));
    ASK(cuUserObjectRelease(object, 1));
    settle();
    ask_number("destroyed after the caller's first release", destroyed);
    ASK(cuUserObjectRelease(object, 1));
    settle();
    ask_number("destroyed after the caller's second release", destroyed);
    ASK(cuGraphDestroy(graph));
}

void object_of_caller() {
    start();
    payload& what = make_payload();
    CUuserObject const object = make_object(what, 2);
    ASK(cuUserObjectRetain(object, 3));
    ASK(cuUserObjectRelease(object, 4));
    destroyed_is("destroyed with one reference left", what, 0);
    ASK(cuUserObjectRelease(object, 1));
    destroyed_is("destroyed after the last release", what);
}

void object_copied_to_graph() {
    start();
    payload& what = make_payload();
    CUuserObject const object = make_object(what);
    CUgraph const graph = make_graph();
    ASK(cuGraphRetainUserObject(graph, object, 1, 0));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed with the graph", what, 0);
    ASK(cuUserObjectRelease(object, 1));
    destroyed_is("destroyed after the caller's release", what);
}

void object_moved_to_graph() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what);
    destroyed_is("destroyed while the graph lives", what, 0);
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed with the graph", what);
}

void object_moved_more_than_held() {
    start();
    payload& what = make_payload();
    CUuserObject const object = make_object(what);
    CUgraph const graph = make_graph();
    ASK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed with the graph", what);
}

void object_released_by_graph() {
    start();
    payload& what = make_payload();
    CUuserObject object = nullptr;
    CUgraph const graph = holding(what, 2, &object);
    ASK(cuGraphReleaseUserObject(graph, object, 1));
    destroyed_is("destroyed with one of two released", what, 0);
    ASK(cuGraphReleaseUserObject(graph, object, 1));
    destroyed_is("destroyed with both released", what);
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed after the graph", what);
}

void object_in_clone() {
    start();
    payload& what = make_payload();
    CUuserObject object = nullptr;
    CUgraph const graph = holding(what, 2, &object);
    CUgraph clone = nullptr;
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed while the clone lives", what, 0);
    ASK(cuGraphReleaseUserObject(clone, object, 1));
    destroyed_is("destroyed with one of the clone's released", what, 0);
    ASK(cuGraphReleaseUserObject(clone, object, 1));
    destroyed_is("destroyed with both of the clone's released", what);
    ASK(cuGraphDestroy(clone));
}

void object_in_clone_of_clone() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what);
    CUgraph clone = nullptr, again = nullptr;
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphClone(&again, clone));
    ASK(cuGraphDestroy(clone));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed while the last clone lives", what, 0);
    ASK(cuGraphDestroy(again));
    destroyed_is("destroyed with the last clone", what);
}

void object_in_exec() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what);
    CUgraphExec exec = nullptr, second = nullptr;
    CUstream const stream = make_stream();
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphInstantiate(&second, graph, 0));
    ASK(cuGraphDestroy(graph));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    destroyed_is("destroyed while executable graphs live", what, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("destroyed with the first executable graph", what, 0);
    ASK(cuGraphExecDestroy(second));
    destroyed_is("destroyed with the second executable graph", what);
}

void object_released_after_instantiation() {
    start();
    payload& what = make_payload();
    CUuserObject object = nullptr;
    CUgraph const graph = holding(what, 1, &object);
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphReleaseUserObject(graph, object, 1));
    destroyed_is("destroyed while the executable graph lives", what, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("destroyed with the executable graph", what);
    ASK(cuGraphDestroy(graph));
}

void object_retained_after_instantiation() {
    start();
    payload& what = make_payload();
    CUgraph const graph = make_graph();
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiate(&exec, graph, 0));
    CUuserObject const object = make_object(what);
    ASK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed while the older executable graph lives", what);
    ASK(cuGraphExecDestroy(exec));
}

struct embedded {
    CUgraph parent = make_graph(), inside = nullptr;
    CUgraphNode node = nullptr;

    explicit embedded(CUgraph child) {
        ask("cuGraphAddChildGraphNode", cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
        ask("cuGraphChildGraphNodeGetGraph", cuGraphChildGraphNodeGetGraph(node, &inside));
    }
};

void object_in_child() {
    start();
    payload& what = make_payload();
    CUgraph const child = holding(what);
    embedded const in(child);
    ASK(cuGraphDestroy(child));
    destroyed_is("destroyed with the child", what, 0);
    ASK(cuGraphDestroy(in.parent));
    destroyed_is("destroyed with the parent", what);
}

void object_released_through_embedded() {
    start();
    payload& what = make_payload();
    CUuserObject object = nullptr;
    CUgraph const child = holding(what, 1, &object);
    embedded const in(child);
    ASK(cuGraphDestroy(child));
    ASK(cuGraphReleaseUserObject(in.inside, object, 1));
    destroyed_is("destroyed after the embedded graph's release", what);
    ASK(cuGraphDestroy(in.parent));
    destroyed_is("destroyed after the parent", what);
}

void object_of_destroyed_child_node() {
    start();
    payload& what = make_payload();
    CUgraph const child = holding(what);
    embedded const in(child);
    ASK(cuGraphDestroy(child));
    ASK(cuGraphDestroyNode(in.node));
    destroyed_is("destroyed with the node", what);
    ASK(cuGraphDestroy(in.parent));
}

void object_of_child_in_exec() {
    start();
    payload& what = make_payload();
    CUgraph const child = holding(what);
    embedded const in(child);
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiate(&exec, in.parent, 0));
    ASK(cuGraphDestroy(child));
    ASK(cuGraphDestroy(in.parent));
    destroyed_is("destroyed with the graphs", what, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("destroyed with the executable graph", what);
}

void object_of_moved_child() {
    start();
    payload& what = make_payload();
    CUgraph const child = holding(what), parent = make_graph();
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    ASK(cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
    destroyed_is("destroyed while the parent lives", what, 0);
    ASK(cuGraphDestroy(parent));
    destroyed_is("destroyed with the parent", what);
}

void object_of_grandchild() {
    start();
    payload& what = make_payload();
    CUgraph const leaf = holding(what);
    embedded const middle(leaf);
    embedded const outer(middle.parent);
    ASK(cuGraphDestroy(leaf));
    ASK(cuGraphDestroy(middle.parent));
    destroyed_is("destroyed while the outer graph lives", what, 0);
    ASK(cuGraphDestroy(outer.parent));
    destroyed_is("destroyed with the outer graph", what);
}

void objects_in_update() {
    start();
    payload &before = make_payload(), &after = make_payload();
    CUgraph const first = holding(before), second = holding(after);
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    ASK(cuGraphInstantiate(&exec, first, 0));
    ASK(cuGraphDestroy(first));
    ASK(cuGraphExecUpdate(exec, second, &info));
    destroyed_is("old object destroyed by the update", before);
    ASK(cuGraphDestroy(second));
    destroyed_is("new object destroyed with its graph", after, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("new object destroyed with the executable graph", after);
}

void objects_in_update_to_none() {
    start();
    payload& before = make_payload();
    CUgraph const first = holding(before), second = make_graph();
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    ASK(cuGraphInstantiate(&exec, first, 0));
    ASK(cuGraphExecUpdate(exec, second, &info));
    destroyed_is("destroyed while the first graph lives", before, 0);
    ASK(cuGraphDestroy(first));
    destroyed_is("destroyed with the first graph", before);
    ASK(cuGraphExecDestroy(exec));
}

void objects_in_failed_update() {
    start();
    payload &before = make_payload(), &after = make_payload();
    CUgraph const first = holding(before), second = holding(after);
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    ASK(cuGraphAddEmptyNode(&node, second, nullptr, 0));
    ASK(cuGraphInstantiate(&exec, first, 0));
    ASK(cuGraphDestroy(first));
    ASK(cuGraphExecUpdate(exec, second, &info));
    destroyed_is("old object destroyed by the failed update", before, 0);
    ASK(cuGraphDestroy(second));
    destroyed_is("new object destroyed with its graph", after);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("old object destroyed with the executable graph", before);
}

void objects_in_child_params() {
    start();
    payload &before = make_payload(), &after = make_payload();
    CUgraph const first = holding(before), second = holding(after);
    embedded const in(first);
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiate(&exec, in.parent, 0));
    ASK(cuGraphDestroy(first));
    ASK(cuGraphExecChildGraphNodeSetParams(exec, in.node, second));
    destroyed_is("old object destroyed while the parent lives", before, 0);
    ASK(cuGraphDestroy(in.parent));
    destroyed_is("old object destroyed with the parent", before);
    ASK(cuGraphDestroy(second));
    destroyed_is("new object destroyed with its graph", after, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("new object destroyed with the executable graph", after);
}

void objects_in_node_params() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what);
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_HOST_NODE_PARAMS const host{nothing, nullptr}, other{nothing, &what};
    ASK(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphExecHostNodeSetParams(exec, node, &other));
    ASK(cuGraphHostNodeSetParams(node, &other));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed while the executable graph lives", what, 0);
    ASK(cuGraphExecDestroy(exec));
    destroyed_is("destroyed with the executable graph", what);
}

// A launch held up by the gate, its graph and executable graph gone.
void object_of_launch_in_flight() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what);
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    ASK(cuGraphInstantiate(&exec, graph, 0));
    gate held(stream);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphDestroy(graph));
    ASK(cuGraphExecDestroy(exec));
    ask("destroy calls return while the launch waits", held.closed());
    settle(60);
    ask_number("destroyed while the launch waits", what.destroyed);
    held.open();
    ASK(cuStreamSynchronize(stream));
    destroyed_is("destroyed after the launch", what);
    payload& function = make_payload();
    ASK(cuLaunchHostFunc(stream, destroy, &function));
    ASK(cuStreamSynchronize(stream));
    ask("destructor on the thread of host functions", what.thread == function.thread);
}

void object_of_update_in_flight() {
    start();
    payload& what = make_payload();
    CUgraph const graph = holding(what), other = make_graph();
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    CUstream const stream = make_stream();
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphDestroy(graph));
    gate held(stream);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphExecUpdate(exec, other, &info));
    ask("update returns while the launch waits", held.closed());
    settle(60);
    ask_number("destroyed while the launch waits", what.destroyed);
    held.open();
    ASK(cuStreamSynchronize(stream));
    destroyed_is("destroyed after the launch", what);
}

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

struct results {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0, ordered = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
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
    ASK(cuMemFreeAsync(s.ordered, s.stream));
    ASK(cuMemAllocAsync(&made, 64, s.stream));
    ASK(cuMemGetInfo(&free, &total));
    ASK(cuMemsetD8Async(s.memory, 1, 16, s.stream));
    ASK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.memory));
    ASK(cuStreamCreate(&stream, 0));
    ASK(cuStreamQuery(s.stream));
    ASK(cuStreamSynchronize(s.stream));
    ASK(cuStreamIsCapturing(s.stream, &status));
    ASK(cuStreamGetFlags(s.stream, &flags));
    ASK(cuStreamDestroy(s.stream));
    ASK(cuEventCreate(&event, 0));
    ASK(cuEventQuery(s.event));
    ASK(cuEventRecord(s.event, s.stream));
    ASK(cuEventSynchronize(s.event));
    ASK(cuEventDestroy(s.event));
    ASK(cuLaunchHostFunc(s.stream, nothing, nullptr));
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphLaunch(s.exec, s.stream));
    ASK(cuGraphExecDestroy(s.exec));
    ASK(cuGraphDestroy(s.graph));
    ASK(cuUserObjectCreate(&object, nullptr, nothing, 1, 1));
    ASK(cuUserObjectRetain(s.other, 1));
    ASK(cuUserObjectRelease(s.other, 1));
    ASK(cuCtxGetCurrent(&now));
    ASK(cuCtxSetCurrent(s.context));
    ASK(cuCtxGetDevice(&device));
    ASK(cuCtxSynchronize());
    ASK(cuDeviceGet(&device, 0));
    ASK(cuDeviceGetCount(&value));
    ASK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ASK(cuDevicePrimaryCtxRetain(&now, 0));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuMemPoolTrimTo(s.pool, 0));
    ASK(cuMemPoolDestroy(s.pool));
    ASK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
}

results& make_results() {
    auto& s = *new results;
    CUgraphNode node = nullptr;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    s.context = start();
    s.stream = make_stream();
    cuEventCreate(&s.event, 0);
    cuMemAlloc(&s.memory, 4096);
    cuMemAllocAsync(&s.ordered, 4096, s.stream);
    cuGraphCreate(&s.graph, 0);
    cuGraphAddEmptyNode(&node, s.graph, nullptr, 0);
    cuGraphInstantiate(&s.exec, s.graph, 0);
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

void calls_in_host_function() {
    results& s = make_results();
    ASK(cuLaunchHostFunc(s.stream, ask_all_calls, &s));
    ASK(cuStreamSynchronize(s.stream));
    ask("cuMemFree after it", cuMemFree(s.memory));
}

void order_of_destructors() {
    start();
    order_of_destruction.clear();
    CUgraph const graph = make_graph();
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
    at_exit("held by a graph", [](CUuserObject object) { cuGraphRetainUserObject(make_graph(), object, 1, 1); });
    at_exit("held by an executable graph", [](CUuserObject object) {
        CUgraph const graph = make_graph();
        CUgraphExec exec = nullptr;
        cuGraphRetainUserObject(graph, object, 1, 1);
        cuGraphInstantiate(&exec, graph, 0);
        cuGraphDestroy(graph);
    });
    at_exit("held by an executable graph of a reset device", [](CUuserObject object) {
        CUgraph const graph = make_graph();
        CUgraphExec exec = nullptr;
        cuGraphRetainUserObject(graph, object, 1, 1);
        cuGraphInstantiate(&exec, graph, 0);
        cuGraphDestroy(graph);
        cuDevicePrimaryCtxReset(0);
        settle(50);
    });
}

}  // namespace

group const user_object_groups[] = {{"user_objects", user_objects},
                                    {"over_release", over_release, alone},
                                    {"over_release_by_graph", over_release_by_graph, alone},
                                    {"object_of_caller", object_of_caller},
                                    {"object_copied_to_graph", object_copied_to_graph},
                                    {"object_moved_to_graph", object_moved_to_graph},
                                    {"object_moved_more_than_held", object_moved_more_than_held},
                                    {"object_released_by_graph", object_released_by_graph},
                                    {"object_in_clone", object_in_clone},
                                    {"object_in_clone_of_clone", object_in_clone_of_clone},
                                    {"object_in_exec", object_in_exec},
                                    {"object_released_after_instantiation", object_released_after_instantiation},
                                    {"object_retained_after_instantiation", object_retained_after_instantiation},
                                    {"object_in_child", object_in_child},
                                    {"object_released_through_embedded", object_released_through_embedded},
                                    {"object_of_destroyed_child_node", object_of_destroyed_child_node},
                                    {"object_of_child_in_exec", object_of_child_in_exec},
                                    {"object_of_moved_child", object_of_moved_child},
                                    {"object_of_grandchild", object_of_grandchild},
                                    {"objects_in_update", objects_in_update},
                                    {"objects_in_update_to_none", objects_in_update_to_none},
                                    {"objects_in_failed_update", objects_in_failed_update},
                                    {"objects_in_child_params", objects_in_child_params},
                                    {"objects_in_node_params", objects_in_node_params},
                                    {"object_of_launch_in_flight", object_of_launch_in_flight},
                                    {"object_of_update_in_flight", object_of_update_in_flight},
                                    {"destructors_threads", destructors_threads},
                                    {"destructors_threads_after_launches", destructors_threads_after_launches},
                                    {"release_waits_for_destructor", release_waits_for_destructor},
                                    {"calls_in_destructor", calls_in_destructor, alone},
                                    {"calls_in_host_function", calls_in_host_function, alone},
                                    {"order_of_destructors", order_of_destructors},
                                    {"order_of_releases", order_of_releases},
                                    {"objects_at_exit", objects_at_exit, alone},
                                    {nullptr, nullptr}};

}  // namespace lastref::conformance
