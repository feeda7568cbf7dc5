// Every move that a reference on a user object can make, and when the destructor runs.
#include "tests/workloads/common/facts.h"

namespace {

using namespace lastref::workload;

struct payload {
    std::atomic<int> destroyed{0};
    std::atomic<int> inside{-1};
    std::thread::id thread;
};

void destroy(void* data) {
    auto& gone = *static_cast<payload*>(data);
    gone.thread = std::this_thread::get_id();
    gone.inside = cuCtxSynchronize();
    ++gone.destroyed;
}

CUuserObject make(payload& data, unsigned references = 1) {
    CUuserObject object = nullptr;
    MUST(cuUserObjectCreate(&object, &data, destroy, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

CUgraph graph_holding(CUuserObject object, unsigned references = 1, unsigned flags = CU_GRAPH_USER_OBJECT_MOVE) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    MUST(cuGraphRetainUserObject(graph, object, references, flags));
    return graph;
}

CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    MUST(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

void runs(char const* what, payload& data) {
    becomes(data.destroyed, 1);
    give_it_time();
    fact(what, data.destroyed, 1);
}

void stays(char const* what, payload& data) {
    give_it_time();
    fact(what, data.destroyed, 0);
}

void bad_arguments() {
    CUuserObject object = nullptr;
    payload data;
    fact("create with flags 0", cuUserObjectCreate(&object, &data, destroy, 1, 0), CUDA_ERROR_INVALID_VALUE);
    fact("create with no reference", cuUserObjectCreate(&object, &data, destroy, 0, 1), CUDA_ERROR_INVALID_VALUE);
    fact("create without destructor", cuUserObjectCreate(&object, &data, nullptr, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

void held_by_caller() {
    payload data;
    CUuserObject const object = make(data, 2);
    MUST(cuUserObjectRetain(object, 3));
    MUST(cuUserObjectRelease(object, 4));
    stays("caller: one of five left", data);
    MUST(cuUserObjectRelease(object, 1));
    runs("caller: none left", data);
    fact("destructor on the releasing thread", data.thread == std::this_thread::get_id(), 1);
    fact("driver call inside the destructor", data.inside, CUDA_ERROR_NOT_PERMITTED);
}

void held_by_graph() {
    payload moved, retained, given_back;
    CUgraph const graph = graph_holding(make(moved));
    CUuserObject const object = make(retained), other = make(given_back);
    MUST(cuGraphRetainUserObject(graph, object, 2, 0));
    MUST(cuGraphRetainUserObject(graph, other, 1, CU_GRAPH_USER_OBJECT_MOVE));
    MUST(cuGraphReleaseUserObject(graph, other, 1));
    runs("graph: its only reference released", given_back);
    MUST(cuUserObjectRelease(object, 1));
    stays("graph: caller's reference released", retained);
    MUST(cuGraphDestroy(graph));
    runs("graph destroyed: retained", retained);
    runs("graph destroyed: moved", moved);
}

void cloned() {
    payload data;
    CUgraph clone = nullptr;
    CUgraph const graph = graph_holding(make(data, 2), 2);
    MUST(cuGraphClone(&clone, graph));
    MUST(cuGraphDestroy(graph));
    stays("clone left", data);
    MUST(cuGraphDestroy(clone));
    runs("clone destroyed", data);
}

void in_child_graph() {
    payload data;
    CUgraph parent = nullptr;
    CUgraphNode node = nullptr;
    CUgraph const child = graph_holding(make(data));
    MUST(cuGraphCreate(&parent, 0));
    MUST(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    MUST(cuGraphDestroy(child));
    stays("child node left", data);
    MUST(cuGraphDestroyNode(node));
    runs("child node destroyed", data);
    MUST(cuGraphDestroy(parent));
}

void released_through_embedded_graph() {
    payload data;
    CUgraph parent = nullptr, embedded = nullptr;
    CUgraphNode node = nullptr;
    CUuserObject const object = make(data);
    CUgraph const child = graph_holding(object);
    MUST(cuGraphCreate(&parent, 0));
    MUST(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    MUST(cuGraphDestroy(child));
    MUST(cuGraphChildGraphNodeGetGraph(node, &embedded));
    MUST(cuGraphReleaseUserObject(embedded, object, 1));
    runs("released through the embedded graph", data);
    MUST(cuGraphDestroy(parent));
}

void updated() {
    payload first, second;
    CUgraphExecUpdateResultInfo info{};
    CUgraph const old_graph = graph_holding(make(first)), new_graph = graph_holding(make(second));
    CUgraphExec const exec = instantiate(old_graph);
    MUST(cuGraphDestroy(old_graph));
    stays("executable graph left", first);
    MUST(cuGraphExecUpdate(exec, new_graph, &info));
    runs("update drops the old reference", first);
    MUST(cuGraphDestroy(new_graph));
    stays("update took the new reference", second);
    MUST(cuGraphExecDestroy(exec));
    runs("updated executable graph destroyed", second);
}

void destroyed_in_flight(CUstream stream) {
    payload data;
    CUgraph const graph = graph_holding(make(data));
    CUgraphExec const exec = instantiate(graph);
    MUST(cuGraphDestroy(graph));
    held_up_stream held(stream);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphExecDestroy(exec));
    stays("launch in flight", data);
    held.let_go();
    MUST(cuStreamSynchronize(stream));
    runs("launch finished", data);
}

// The driver takes it for success, and forgets the object: nothing must run, now or at exit.
void released_too_often() {
    static payload data;
    fact("release of more than there are", cuUserObjectRelease(make(data), 2), CUDA_SUCCESS);
    stays("released too often", data);
}

void left_at_exit() {
    static payload data;
    instantiate(graph_holding(make(data)));
    stays("left in an executable graph", data);
}

}  // namespace

int main() {
    CUstream stream = nullptr;
    use_first_device();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    bad_arguments();
    held_by_caller();
    held_by_graph();
    cloned();
    in_child_graph();
    released_through_embedded_graph();
    updated();
    destroyed_in_flight(stream);
    released_too_often();
    MUST(cuStreamDestroy(stream));
    left_at_exit();
    return finish();
}
