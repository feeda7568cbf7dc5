#include <cstring>

#include "questions.h"

namespace lastref::conformance {
namespace {

CUgraph make_graph() {
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    return graph;
}

CUgraphNode add_empty(CUgraph graph) {
    CUgraphNode node = nullptr;
    cuGraphAddEmptyNode(&node, graph, nullptr, 0);
    return node;
}

CUgraphNode add_alloc(CUgraph graph, CUdeviceptr& address) {
    CUgraphNode node = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = 4096;
    ask("cuGraphAddMemAllocNode", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    address = params.dptr;
    return node;
}

void host_nothing(void*) {}

void shape() {
    start();
    CUgraph const graph = make_graph(), other = make_graph();
    CUgraphNode const a = add_empty(graph), b = add_empty(graph), c = add_empty(other);
    CUgraphNode node = nullptr, list[4] = {a, a, a, a};
    std::size_t count = 4;
    ASK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ASK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ASK(cuGraphAddDependencies(graph, &b, &a, nullptr, 1));
    ASK(cuGraphAddDependencies(graph, &a, &a, nullptr, 1));
    ASK(cuGraphAddDependencies(graph, &a, &c, nullptr, 1));
    ASK(cuGraphAddEmptyNode(&node, graph, &c, 1));
    ASK(cuGraphGetNodes(graph, list, &count));
    ask_number("nodes", static_cast<long long>(count));
    ask("what is beyond the list is null", list[3] == nullptr);
    ASK(cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
    ASK(cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
    ASK(cuGraphNodeFindInClone(&node, a, graph));
    ASK(cuGraphCreate(nullptr, 0));
    CUgraph made = nullptr;
    ASK(cuGraphCreate(&made, 1));
}

void cycle_instantiated() {
    start();
    CUgraph const graph = make_graph();
    CUgraphNode const a = add_empty(graph), b = add_empty(graph);
    CUgraphExec exec = nullptr;
    ASK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ASK(cuGraphAddDependencies(graph, &b, &a, nullptr, 1));
    ASK(cuGraphInstantiate(&exec, graph, 0));
}

void children() {
    start();
    CUgraph const parent = make_graph(), child = make_graph();
    CUgraph embedded = nullptr;
    CUgraphNode node = nullptr;
    add_empty(child);
    ASK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    ASK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    ASK(embedded == child);
    ASK(cuGraphChildGraphNodeGetGraph(add_empty(parent), &embedded));
}

void graph_in_itself() {
    start();
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    ASK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, graph));
}

void embedded_destroyed() {
    start();
    CUgraph const parent = make_graph(), child = make_graph();
    CUgraph embedded = nullptr;
    CUgraphNode node = nullptr;
    add_empty(child);
    ASK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    ASK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    ASK(cuGraphDestroy(embedded));
}

void instantiation() {
    start();
    CUgraph const graph = make_graph();
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    cuuint64_t flags = 0;
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecDestroy(exec));
    ASK(cuGraphInstantiate(&exec, graph, 64));
    ASK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    ASK(cuGraphExecGetFlags(exec, &flags));
    ask_number("flags", static_cast<long long>(flags));
    ASK(cuGraphUpload(exec, stream));
}

void updates() {
    CUcontext const context = start();
    CUgraph const graph = make_graph(), longer = make_graph(), other_kind = make_graph(), same = make_graph();
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    CUDA_HOST_NODE_PARAMS host{host_nothing, nullptr};
    CUgraphNode node = nullptr, in_graph = nullptr, event_node = nullptr;
    CUdeviceptr memory = 0;
    CUDA_MEMSET_NODE_PARAMS set{};
    unsigned enabled = 0;
    cuMemAlloc(&memory, 64);
    set.dst = memory;
    set.elementSize = 4;
    set.width = set.height = 1;
    cuGraphAddMemsetNode(&in_graph, graph, nullptr, 0, &set, context);
    cuGraphAddMemsetNode(&node, same, nullptr, 0, &set, context);
    cuGraphAddMemsetNode(&node, longer, nullptr, 0, &set, context);
    cuGraphAddMemsetNode(&node, longer, nullptr, 0, &set, context);
    cuGraphAddHostNode(&node, other_kind, nullptr, 0, &host);
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphExecUpdate(exec, same, &info));
    ask_number("reason, same shape", info.result);
    ASK(cuGraphExecUpdate(exec, longer, &info));
    ask_number("reason, a node more", info.result);
    ASK(cuGraphExecUpdate(exec, other_kind, &info));
    ask_number("reason, another kind", info.result);
    ASK(cuGraphNodeSetEnabled(exec, in_graph, 0));
    ASK(cuGraphNodeGetEnabled(exec, in_graph, &enabled));
    ask_number("enabled", enabled);
    ASK(cuGraphExecHostNodeSetParams(exec, in_graph, &host));
    ASK(cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
    ASK(cuGraphDestroyNode(in_graph));
    ASK(cuGraphExecUpdate(exec, graph, &info));
    ask_number("reason, node destroyed", info.result);
    (void)event_node;
}

void enabled_kinds() {
    start();
    CUgraph const graph = make_graph();
    CUgraphNode const empty = add_empty(graph);
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_HOST_NODE_PARAMS host{host_nothing, nullptr};
    ASK(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ask("disable an empty node", cuGraphNodeSetEnabled(exec, empty, 0));
    ask("disable a host node", cuGraphNodeSetEnabled(exec, node, 0));
    host.fn = nullptr;
    ask("host node without a function", cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
}

void memory_nodes() {
    start();
    CUgraph const graph = make_graph(), parent = make_graph();
    CUgraph clone = nullptr;
    CUdeviceptr inside = 0;
    CUgraphNode const alloc = add_alloc(graph, inside);
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr, second = nullptr;
    CUstream const stream = make_stream();
    ask("free before the first launch", cuMemFreeAsync(inside, stream));
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
    ASK(cuGraphDestroyNode(alloc));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphInstantiate(&second, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    if (second) ask("launch of the second executable graph", cuGraphLaunch(second, stream));
    ASK(cuMemFreeAsync(inside, stream));
    ASK(cuMemFreeAsync(inside, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuMemFree(inside));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecDestroy(exec));
    ASK(cuGraphDestroy(graph));
    ASK(cuMemFreeAsync(inside, stream));
    ASK(cuStreamSynchronize(stream));
}

void memory_free_nodes() {
    start();
    CUgraph const graph = make_graph(), other = make_graph();
    CUdeviceptr inside = 0, plain = 0, ordered = 0;
    CUgraphNode const alloc = add_alloc(graph, inside);
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    cuMemAlloc(&plain, 64);
    cuMemAllocAsync(&ordered, 64, stream);
    ask("free node for cuMemAlloc memory", cuGraphAddMemFreeNode(&node, graph, nullptr, 0, plain));
    ask("free node for stream-ordered memory", cuGraphAddMemFreeNode(&node, graph, nullptr, 0, ordered));
    ask("free node not after its allocation", cuGraphAddMemFreeNode(&node, graph, nullptr, 0, inside));
    ask("free node after its allocation", cuGraphAddMemFreeNode(&node, graph, &alloc, 1, inside));
    ask("second free node", cuGraphAddMemFreeNode(&node, graph, &alloc, 1, inside));
    ask("free node in another graph", cuGraphAddMemFreeNode(&node, other, nullptr, 0, inside));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
}

void graph_memory_attributes() {
    start();
    CUgraph const graph = make_graph();
    CUdeviceptr inside = 0;
    add_alloc(graph, inside);
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    cuuint64_t used = 0, reserved = 0, one = 1, zero = 0;
    ASK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    auto const read = [&] {
        cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used);
        cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved);
    };
    read();
    ask("used before a launch", used > 0);
    ask("reserved before a launch", reserved > 0);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    read();
    ask_number("used after launches", static_cast<long long>(used));
    ask_number("reserved after launches", static_cast<long long>(reserved));
    ASK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one));
    ASK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    ASK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
    ASK(cuGraphExecDestroy(exec));
    ASK(cuGraphDestroy(graph));
    ASK(cuDeviceGraphMemTrim(0));
    read();
    ask("used after destruction and trim", used > 0);
    ASK(cuMemFree(inside));
    ASK(cuDeviceGraphMemTrim(0));
    read();
    ask_number("used after free and trim", static_cast<long long>(used));
    ask_number("reserved after free and trim", static_cast<long long>(reserved));
}

}  // namespace

group const graph_groups[] = {{"shape", shape},
                              {"cycle_instantiated", cycle_instantiated, alone},
                              {"children", children},
                              {"graph_in_itself", graph_in_itself, alone},
                              {"embedded_destroyed", embedded_destroyed, alone},
                              {"instantiation", instantiation},
                              {"updates", updates},
                              {"enabled_kinds", enabled_kinds},
                              {"memory_nodes", memory_nodes, alone},
                              {"memory_free_nodes", memory_free_nodes, alone},
                              {"graph_memory_attributes", graph_memory_attributes, alone},
                              {nullptr, nullptr}};

}  // namespace lastref::conformance
