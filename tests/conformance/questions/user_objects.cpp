#include "payloads.h"

namespace lastref::conformance {
namespace {

void user_objects() {
    static std::atomic<int> destroyed{0};
    start();
    CUuserObject object = nullptr;
    CUgraph const graph = make_graph_with_node();
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
    CUgraph const graph = make_graph_with_node();
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
    CUgraph const graph = make_graph_with_node();
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
    CUgraph const graph = make_graph_with_node();
    ASK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed with the graph", what);
}

// The reference is the graph's: whoever moved it must not release it as well.
void object_released_after_move() {
    start();
    payload& what = make_payload();
    CUuserObject object = nullptr;
    CUgraph const graph = holding(what, 1, &object);
    ASK(cuUserObjectRelease(object, 1));
    destroyed_is("destroyed by the release while the graph lives", what, 0);
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed with the graph", what, 0);
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
    CUgraph const graph = make_graph_with_node();
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiate(&exec, graph, 0));
    CUuserObject const object = make_object(what);
    ASK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuGraphDestroy(graph));
    destroyed_is("destroyed while the older executable graph lives", what);
    ASK(cuGraphExecDestroy(exec));
}

struct embedded {
    CUgraph parent = make_graph_with_node(), inside = nullptr;
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
    CUgraph const child = holding(what), parent = make_graph_with_node();
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
    CUgraph const first = holding(before), second = make_graph_with_node();
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
    CUgraph const graph = holding(what), other = make_graph_with_node();
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

}  // namespace

group const user_object_groups[] = {{"user_objects", user_objects},
                                    {"over_release", over_release, alone},
                                    {"over_release_by_graph", over_release_by_graph, alone},
                                    {"object_of_caller", object_of_caller},
                                    {"object_copied_to_graph", object_copied_to_graph},
                                    {"object_moved_to_graph", object_moved_to_graph},
                                    {"object_moved_more_than_held", object_moved_more_than_held},
                                    {"object_released_after_move", object_released_after_move, alone},
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
                                    {nullptr, nullptr}};

}  // namespace lastref::conformance
