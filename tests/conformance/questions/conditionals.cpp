// Conditional nodes: their kinds, bodies and handles.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

CUgraph make_graph() {
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    return graph;
}

void conditionals() {
    CUcontext const context = start();
    CUgraph const graph = make_graph();
    CUgraph other = make_graph();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = nullptr, inner = nullptr;
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    unsigned value = 0;
    CUDA_MEMSET_NODE_PARAMS set{};
    cuMemAlloc(&memory, 64);
    cuMemsetD8(memory, 0, 64);
    cuCtxSynchronize();
    set.dst = memory;
    set.value = 7;
    set.elementSize = 4;
    set.width = set.height = 1;
    ASK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    ask("handle of another graph", cuGraphAddNode(&node, other, nullptr, nullptr, 0, &params));
    ASK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    if (!params.conditional.phGraph_out) return;
    CUgraph const body = params.conditional.phGraph_out[0];
    ASK(cuGraphAddMemsetNode(&inner, body, nullptr, 0, &set, context));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemcpyDtoH(&value, memory, 4));
    ask_number("body has run", value);
    ASK(cuGraphDestroy(body));
}

struct conditional {
    CUcontext context = start();
    CUgraph graph = make_graph();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = nullptr;
    CUgraph bodies[3] = {};

    conditional(CUgraphConditionalNodeType type, unsigned size, unsigned value) {
        CUgraphNodeParams params{};
        ask("cuGraphConditionalHandleCreate",
            cuGraphConditionalHandleCreate(&handle, graph, context, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.handle = handle;
        params.conditional.type = type;
        params.conditional.size = size;
        params.conditional.ctx = context;
        ask("cuGraphAddNode", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        for (unsigned index = 0; index < size && index < 3 && params.conditional.phGraph_out; ++index)
            bodies[index] = params.conditional.phGraph_out[index];
    }
};

// Which of the bodies run when the handle's default is `value`.
void bodies_run(char const* question, CUgraphConditionalNodeType type, unsigned size, unsigned value) {
    conditional what(type, size, value);
    CUdeviceptr memory = 0;
    unsigned seen[3] = {};
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    cuMemAlloc(&memory, 64);
    cuMemsetD8(memory, 0, 64);
    cuCtxSynchronize();
    for (unsigned index = 0; index < size && what.bodies[index]; ++index) {
        CUDA_MEMSET_NODE_PARAMS set{};
        CUgraphNode node = nullptr;
        set.dst = memory + 4 * index;
        set.value = 1;
        set.elementSize = 4;
        set.width = set.height = 1;
        ask("cuGraphAddMemsetNode", cuGraphAddMemsetNode(&node, what.bodies[index], nullptr, 0, &set, what.context));
    }
    ask("cuGraphInstantiate", cuGraphInstantiate(&exec, what.graph, 0));
    if (!exec) return;
    ask("cuGraphLaunch", cuGraphLaunch(exec, stream));
    ask("cuStreamSynchronize", cuStreamSynchronize(stream));
    cuMemcpyDtoH(seen, memory, sizeof seen);
    std::string run;
    for (unsigned const one : seen) run += one ? '1' : '0';
    ask_text(question, run);
}

void if_bodies() {
    bodies_run("if 0", CU_GRAPH_COND_TYPE_IF, 1, 0);
    bodies_run("if 1", CU_GRAPH_COND_TYPE_IF, 1, 1);
    bodies_run("if 5", CU_GRAPH_COND_TYPE_IF, 1, 5);
    bodies_run("if else 0", CU_GRAPH_COND_TYPE_IF, 2, 0);
    bodies_run("if else 1", CU_GRAPH_COND_TYPE_IF, 2, 1);
    bodies_run("if of three bodies", CU_GRAPH_COND_TYPE_IF, 3, 1);
}

void while_body() {
    bodies_run("while 0", CU_GRAPH_COND_TYPE_WHILE, 1, 0);
    bodies_run("while of two bodies", CU_GRAPH_COND_TYPE_WHILE, 2, 0);
}

void switch_bodies() {
    bodies_run("switch 0", CU_GRAPH_COND_TYPE_SWITCH, 3, 0);
    bodies_run("switch 2", CU_GRAPH_COND_TYPE_SWITCH, 3, 2);
    bodies_run("switch 3", CU_GRAPH_COND_TYPE_SWITCH, 3, 3);
}

void conditional_arguments() {
    CUcontext const context = start();
    CUgraph const graph = make_graph();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    ASK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    ASK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2));
    ASK(cuGraphConditionalHandleCreate(&handle, nullptr, context, 0, 0));
    ASK(cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
    ASK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 1));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.ctx = context;
    params.conditional.size = 0;
    ask("no bodies", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    params.conditional.size = 1;
    ask("one body", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    ask("the handle again", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
}

void unused_handle() {
    CUcontext const context = start();
    CUgraph const graph = make_graph();
    CUgraphConditionalHandle handle = 0;
    CUgraphExec exec = nullptr;
    ASK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 1));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    CUgraph clone = nullptr;
    ASK(cuGraphClone(&clone, graph));
}

void body_contents() {
    conditional what(CU_GRAPH_COND_TYPE_IF, 1, 1);
    CUgraph const body = what.bodies[0], child = make_graph();
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_HOST_NODE_PARAMS const host{[](void*) {}, nullptr};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
    CUevent event = nullptr;
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.bytesize = 4096;
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    ask("empty", cuGraphAddEmptyNode(&node, body, nullptr, 0));
    ask("child", cuGraphAddChildGraphNode(&node, body, nullptr, 0, child));
    ask("instantiate with those", cuGraphInstantiate(&exec, what.graph, 0));
    ask("record", cuGraphAddEventRecordNode(&node, body, nullptr, 0, event));
    ask("allocation", cuGraphAddMemAllocNode(&node, body, nullptr, 0, &alloc));
    ask("host function", cuGraphAddHostNode(&node, body, nullptr, 0, &host));
    ask("instantiate with all", cuGraphInstantiate(&exec, what.graph, 0));
}

void conditional_copies() {
    conditional what(CU_GRAPH_COND_TYPE_IF, 1, 1);
    CUgraph clone = nullptr;
    CUgraph const parent = make_graph();
    CUgraphNode node = nullptr;
    ASK(cuGraphClone(&clone, what.graph));
    ASK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, what.graph));
    ASK(cuGraphDestroyNode(what.node));
}

void conditional_update() {
    conditional first(CU_GRAPH_COND_TYPE_IF, 1, 1), second(CU_GRAPH_COND_TYPE_IF, 1, 0);
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    ASK(cuGraphInstantiate(&exec, first.graph, 0));
    ASK(cuGraphExecUpdate(exec, first.graph, &info));
    ask_number("reason", info.result);
    ASK(cuGraphExecUpdate(exec, second.graph, &info));
    ask_number("reason", info.result);
}

void body_with_object() {
    conditional what(CU_GRAPH_COND_TYPE_IF, 1, 1);
    static std::atomic<int> destroyed{0};
    CUuserObject object = nullptr;
    CUgraphExec exec = nullptr;
    ASK(cuUserObjectCreate(
        &object, &destroyed, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, 1, 1));
    ASK(cuGraphRetainUserObject(what.bodies[0], object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuGraphInstantiate(&exec, what.graph, 0));
    ASK(cuGraphDestroy(what.graph));
    settle(60);
    ask_number("destroyed with the graph", destroyed);
    ASK(cuGraphExecDestroy(exec));
    ask_number("destroyed with the executable graph", eventually(destroyed, 1));
}

void captured_body() {
    conditional what(CU_GRAPH_COND_TYPE_IF, 1, 1);
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    unsigned char value = 0;
    cuMemAlloc(&memory, 64);
    cuMemsetD8(memory, 0, 64);
    cuCtxSynchronize();
    ASK(cuStreamBeginCaptureToGraph(stream, what.bodies[0], nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuMemsetD8Async(memory, 3, 16, stream));
    ASK(cuStreamEndCapture(stream, &graph));
    ask("end gives the body", graph == what.bodies[0]);
    ASK(cuGraphInstantiate(&exec, what.graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemcpyDtoH(&value, memory, 1));
    ask_number("written by the body", value);
}

}  // namespace

group const conditional_groups[] = {{"conditionals", conditionals},
                                    {"if_bodies", if_bodies},
                                    {"while_body", while_body},
                                    {"switch_bodies", switch_bodies},
                                    {"conditional_arguments", conditional_arguments},
                                    {"unused_handle", unused_handle},
                                    {"body_contents", body_contents},
                                    {"conditional_copies", conditional_copies},
                                    {"conditional_update", conditional_update},
                                    {"body_with_object", body_with_object},
                                    {"captured_body", captured_body},
                                    {nullptr, nullptr}};

}  // namespace lastref::conformance
