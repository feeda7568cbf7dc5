// What executable graphs may be updated to, and how they are set node by node.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

void CUDA_CB nothing(void*) {}
void CUDA_CB something(void*) {}

CUgraph make_graph() {
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    return graph;
}

struct setting {
    CUcontext context = start();
    CUdeviceptr memory = 0, other = 0;
    CUdeviceptr managed = 0;
    unsigned char bytes[256] = {};
    CUevent event = nullptr, second = nullptr;

    setting() {
        cuMemAlloc(&memory, 4096);
        cuMemAlloc(&other, 4096);
        cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        cuEventCreate(&second, CU_EVENT_DISABLE_TIMING);
    }

    CUDA_MEMSET_NODE_PARAMS set(std::size_t width = 4, std::size_t height = 1) const {
        CUDA_MEMSET_NODE_PARAMS params{};
        params.dst = memory;
        params.elementSize = 4;
        params.width = width;
        params.height = height;
        params.pitch = 64;
        return params;
    }

    CUDA_MEMCPY3D copy(std::size_t width = 16) const {
        CUDA_MEMCPY3D params{};
        params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        params.srcDevice = memory;
        params.dstDevice = other;
        params.WidthInBytes = width;
        params.Height = params.Depth = 1;
        return params;
    }

    CUgraph with_set(CUDA_MEMSET_NODE_PARAMS const& params, CUgraphNode* out = nullptr) const {
        CUgraph const graph = make_graph();
        CUgraphNode node = nullptr;
        ask("cuGraphAddMemsetNode", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context));
        if (out) *out = node;
        return graph;
    }

    CUgraph with_copy(CUDA_MEMCPY3D const& params, CUgraphNode* out = nullptr) const {
        CUgraph const graph = make_graph();
        CUgraphNode node = nullptr;
        ask("cuGraphAddMemcpyNode", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, context));
        if (out) *out = node;
        return graph;
    }
};

CUgraph with_host(CUhostFn function, void* data, CUgraphNode* out = nullptr) {
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    CUDA_HOST_NODE_PARAMS const params{function, data};
    cuGraphAddHostNode(&node, graph, nullptr, 0, &params);
    if (out) *out = node;
    return graph;
}

CUgraph with_record(CUevent event) {
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event);
    return graph;
}

CUgraph with_wait(CUevent event) {
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event);
    return graph;
}

CUgraph with_child(CUgraph child) {
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child);
    return graph;
}

// `count` empty nodes, each after the one before where they are chained.
CUgraph with_empty(int count, bool chained = false) {
    CUgraph const graph = make_graph();
    CUgraphNode before = nullptr;
    for (int index = 0; index < count; ++index) {
        CUgraphNode node = nullptr;
        cuGraphAddEmptyNode(&node, graph, &before, chained && before ? 1 : 0);
        before = node;
    }
    return graph;
}

void update(char const* question, CUgraph from, CUgraph to) {
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    std::string const what = question;
    ask((what + ": instantiate").c_str(), cuGraphInstantiate(&exec, from, 0));
    ask(question, cuGraphExecUpdate(exec, to, &info));
    ask_number((what + ": reason").c_str(), info.result);
    ask((what + ": names a node").c_str(), info.errorNode != nullptr);
    cuGraphExecDestroy(exec);
}

void update_shapes() {
    start();
    update("empty graph to empty graph", make_graph(), make_graph());
    update("same shape", with_empty(2), with_empty(2));
    update("a node more", with_empty(1), with_empty(2));
    update("a node less", with_empty(2), with_empty(1));
    update("an edge more", with_empty(2), with_empty(2, true));
    update("an edge less", with_empty(2, true), with_empty(2));
    update("to nothing", with_empty(1), make_graph());
    update("child to child", with_child(with_empty(2)), with_child(with_empty(2)));
    update("child to larger child", with_child(with_empty(1)), with_child(with_empty(2)));
    update("child to host", with_child(with_empty(1)), with_host(nothing, nullptr));
    CUgraph const graph = with_empty(1);
    CUgraphExec exec = nullptr;
    cuGraphInstantiate(&exec, graph, 0);
    CUgraphExecUpdateResultInfo info{};
    ask("with its own graph", cuGraphExecUpdate(exec, graph, &info));
    ask("without a place for the result", cuGraphExecUpdate(exec, graph, nullptr));
    ask("with no graph", cuGraphExecUpdate(exec, nullptr, &info));
}

void update_kinds() {
    setting s;
    update("host: other data", with_host(nothing, nullptr), with_host(nothing, &s));
    update("host: other function", with_host(nothing, nullptr), with_host(something, nullptr));
    update("host to empty", with_host(nothing, nullptr), with_empty(1));
    update("record: other event", with_record(s.event), with_record(s.second));
    update("wait: other event", with_wait(s.event), with_wait(s.second));
    update("record to wait", with_record(s.event), with_wait(s.event));
    CUDA_MEMSET_NODE_PARAMS wider = s.set(8), elsewhere = s.set(), tall = s.set(4, 2), bytes = s.set();
    elsewhere.dst = s.other;
    elsewhere.value = 7;
    bytes.elementSize = 1;
    update("memset: other place and value", s.with_set(s.set()), s.with_set(elsewhere));
    update("memset: wider", s.with_set(s.set()), s.with_set(wider));
    update("memset: narrower", s.with_set(wider), s.with_set(s.set()));
    update("memset: to two dimensions", s.with_set(s.set()), s.with_set(tall));
    update("memset: other element size", s.with_set(s.set()), s.with_set(bytes));
    CUDA_MEMCPY3D longer = s.copy(32), back = s.copy(), from_host = s.copy(), to_host = s.copy();
    back.srcDevice = s.other;
    back.dstDevice = s.memory;
    from_host.srcMemoryType = CU_MEMORYTYPE_HOST;
    from_host.srcHost = s.bytes;
    to_host.dstMemoryType = CU_MEMORYTYPE_HOST;
    to_host.dstHost = s.bytes;
    update("memcpy: the other way", s.with_copy(s.copy()), s.with_copy(back));
    update("memcpy: longer", s.with_copy(s.copy()), s.with_copy(longer));
    update("memcpy: from host instead", s.with_copy(s.copy()), s.with_copy(from_host));
    update("memcpy: to host instead", s.with_copy(s.copy()), s.with_copy(to_host));
    update("memset to memcpy", s.with_set(s.set()), s.with_copy(s.copy()));
}

void update_reordered() {
    setting s;
    CUgraph const first = make_graph(), second = make_graph();
    CUgraphNode node = nullptr;
    CUDA_HOST_NODE_PARAMS const host{nothing, nullptr};
    CUDA_MEMSET_NODE_PARAMS const set = s.set();
    cuGraphAddHostNode(&node, first, nullptr, 0, &host);
    cuGraphAddMemsetNode(&node, first, nullptr, 0, &set, s.context);
    cuGraphAddMemsetNode(&node, second, nullptr, 0, &set, s.context);
    cuGraphAddHostNode(&node, second, nullptr, 0, &host);
    update("nodes in another order", first, second);
}

void update_with_other_context() {
    setting s;
    CUcontext other = nullptr;
    CUdeviceptr inside = 0;
    CUgraphNode node = nullptr;
    CUgraph const graph = make_graph();
    ASK(cuCtxCreate(&other, nullptr, 0, 0));
    cuMemAlloc(&inside, 64);
    CUDA_MEMSET_NODE_PARAMS set = s.set();
    set.dst = inside;
    ASK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, other));
    update("memset: another context", s.with_set(s.set()), graph);
}

void update_memory_nodes() {
    start();
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = 4096;
    auto const made = [&] {
        CUgraph const graph = make_graph();
        CUgraphNode alloc = nullptr, node = nullptr;
        cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params);
        cuGraphAddMemFreeNode(&node, graph, &alloc, 1, params.dptr);
        return graph;
    };
    CUgraph const first = made(), second = made();
    update("allocation to allocation", first, second);
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    CUgraph const third = made();
    ASK(cuGraphInstantiate(&exec, third, 0));
    ask("allocation: its own graph", cuGraphExecUpdate(exec, third, &info));
    ask_number("allocation: its own graph: reason", info.result);
}

void update_flags() {
    start();
    CUgraph const graph = with_host(nothing, nullptr);
    for (unsigned long long flags : {0, 1, 2, 3, 4, 8, 16, 32}) {
        CUgraphExec exec = nullptr;
        cuuint64_t read = 99;
        std::string const question = "instantiate with flags " + std::to_string(flags);
        ask(question.c_str(), cuGraphInstantiate(&exec, graph, flags));
        if (!exec) continue;
        cuGraphExecGetFlags(exec, &read);
        ask_number((question + ": reads").c_str(), static_cast<long long>(read));
        cuGraphExecDestroy(exec);
    }
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CUgraphExec exec = nullptr;
    ASK(cuGraphInstantiateWithParams(&exec, graph, &params));
    ask_number("result", params.result_out);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = make_stream();
    ask("upload", cuGraphInstantiateWithParams(&exec, graph, &params));
    ask_number("upload: result", params.result_out);
    ASK(cuGraphInstantiate(&exec, nullptr, 0));
    ASK(cuGraphInstantiate(nullptr, graph, 0));
}

void node_params() {
    setting s;
    CUgraphNode set_node = nullptr, host_node = nullptr, copy_node = nullptr;
    CUgraph const sets = s.with_set(s.set(), &set_node), hosts = with_host(nothing, nullptr, &host_node),
                  copies = s.with_copy(s.copy(), &copy_node);
    CUDA_MEMSET_NODE_PARAMS set = s.set(), read_set{};
    CUDA_HOST_NODE_PARAMS host{something, &s}, read_host{}, none{nullptr, nullptr};
    CUDA_MEMCPY3D copy = s.copy(32), read_copy{};
    set.value = 9;
    ASK(cuGraphMemsetNodeSetParams(set_node, &set));
    ASK(cuGraphMemsetNodeGetParams(set_node, &read_set));
    ask_number("value set", read_set.value);
    ASK(cuGraphMemsetNodeSetParams(host_node, &set));
    ASK(cuGraphHostNodeSetParams(host_node, &host));
    ASK(cuGraphHostNodeGetParams(host_node, &read_host));
    ask("function and data set", read_host.fn == something && read_host.userData == &s);
    ASK(cuGraphHostNodeSetParams(host_node, &none));
    ASK(cuGraphMemcpyNodeSetParams(copy_node, &copy));
    ASK(cuGraphMemcpyNodeGetParams(copy_node, &read_copy));
    ask_number("width set", static_cast<long long>(read_copy.WidthInBytes));
    set.elementSize = 3;
    ASK(cuGraphMemsetNodeSetParams(set_node, &set));
    set = s.set();
    set.width = 0;
    ASK(cuGraphMemsetNodeSetParams(set_node, &set));
    (void)sets, (void)hosts, (void)copies;
}

void exec_node_params() {
    setting s;
    CUgraphNode set_node = nullptr, host_node = nullptr, copy_node = nullptr;
    CUgraph const sets = s.with_set(s.set(), &set_node), hosts = with_host(nothing, nullptr, &host_node),
                  copies = s.with_copy(s.copy(), &copy_node);
    CUgraphExec set_exec = nullptr, host_exec = nullptr, copy_exec = nullptr;
    ASK(cuGraphInstantiate(&set_exec, sets, 0));
    ASK(cuGraphInstantiate(&host_exec, hosts, 0));
    ASK(cuGraphInstantiate(&copy_exec, copies, 0));
    CUDA_MEMSET_NODE_PARAMS set = s.set();
    CUDA_HOST_NODE_PARAMS const host{something, &s};
    CUDA_MEMCPY3D copy = s.copy();
    set.value = 9;
    ASK(cuGraphExecMemsetNodeSetParams(set_exec, set_node, &set, s.context));
    set.width = 8;
    ask("wider", cuGraphExecMemsetNodeSetParams(set_exec, set_node, &set, s.context));
    set = s.set(4, 2);
    ask("two dimensions", cuGraphExecMemsetNodeSetParams(set_exec, set_node, &set, s.context));
    ask("node of another graph", cuGraphExecMemsetNodeSetParams(copy_exec, set_node, &set, s.context));
    ASK(cuGraphExecHostNodeSetParams(host_exec, host_node, &host));
    ask("host node of another graph", cuGraphExecHostNodeSetParams(set_exec, host_node, &host));
    copy.WidthInBytes = 8;
    ASK(cuGraphExecMemcpyNodeSetParams(copy_exec, copy_node, &copy, s.context));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = s.bytes;
    ask("from host instead", cuGraphExecMemcpyNodeSetParams(copy_exec, copy_node, &copy, s.context));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = something;
    ASK(cuGraphNodeSetParams(host_node, &params));
    ASK(cuGraphExecNodeSetParams(host_exec, host_node, &params));
    ask("parameters of another kind", cuGraphNodeSetParams(set_node, &params));
}

void disabled_nodes() {
    setting s;
    CUgraphNode set_node = nullptr;
    CUgraph const graph = s.with_set(s.set(), &set_node);
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    unsigned value = 1, enabled = 9;
    CUDA_MEMSET_NODE_PARAMS set = s.set();
    set.value = 0x55;
    ASK(cuGraphMemsetNodeSetParams(set_node, &set));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuMemsetD8(s.memory, 0, 64));
    cuCtxSynchronize();
    ASK(cuGraphNodeSetEnabled(exec, set_node, 0));
    ASK(cuGraphNodeGetEnabled(exec, set_node, &enabled));
    ask_number("enabled", enabled);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemcpyDtoH(&value, s.memory, 4));
    ask_number("written by a disabled node", value);
    ASK(cuGraphNodeSetEnabled(exec, set_node, 1));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemcpyDtoH(&value, s.memory, 4));
    ask_number("written by an enabled node", value);
}

std::string order;
template <char name>
void CUDA_CB note(void*) {
    order += name;
}

CUgraphNode add_note(CUgraph graph, CUhostFn function, CUgraphNode after = nullptr) {
    CUgraphNode node = nullptr;
    CUDA_HOST_NODE_PARAMS const params{function, nullptr};
    ask("cuGraphAddHostNode", cuGraphAddHostNode(&node, graph, &after, after ? 1 : 0, &params));
    return node;
}

void memory_operation_nodes() {
    setting s;
    CUgraph const graph = make_graph();
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    unsigned volatile* const word = pinned_word();
    CUstreamBatchMemOpParams one{};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params{};
    one.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    one.writeValue.address = reinterpret_cast<CUdeviceptr>(word);
    one.writeValue.value = 5;
    params.ctx = s.context;
    params.count = 1;
    params.paramArray = &one;
    ASK(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("written", *word);
    one.writeValue.value = 6;
    ASK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("written after the parameters were set", *word);
}

void order_of_nodes() {
    start();
    order.clear();
    CUgraph const graph = make_graph(), child = make_graph();
    CUgraphNode node = nullptr, in_child = nullptr;
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    add_note(child, note<'c'>, in_child);
    CUgraphNode const first = add_note(graph, note<'a'>);
    ASK(cuGraphAddChildGraphNode(&node, graph, &first, 1, child));
    add_note(graph, note<'z'>, node);
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_text("order", order);
}

void destroyed_nodes() {
    start();
    order.clear();
    CUgraph const graph = make_graph();
    CUgraphNode const a = add_note(graph, note<'a'>), b = add_note(graph, note<'b'>, a),
                      c = add_note(graph, note<'c'>, b);
    CUgraphExec exec = nullptr;
    CUstream const stream = make_stream();
    std::size_t count = 0;
    ASK(cuGraphDestroyNode(b));
    ASK(cuGraphGetNodes(graph, nullptr, &count));
    ask_number("nodes", static_cast<long long>(count));
    ASK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    ask_number("edges", static_cast<long long>(count));
    ASK(cuGraphGetRootNodes(graph, nullptr, &count));
    ask_number("roots", static_cast<long long>(count));
    ASK(cuGraphNodeGetDependencies(c, nullptr, nullptr, &count));
    ask_number("dependencies", static_cast<long long>(count));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphDestroyNode(a));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("functions that ran", static_cast<long long>(order.size()));
}

void clones() {
    start();
    CUgraph const graph = make_graph();
    CUgraph clone = nullptr;
    CUgraphNode const node = add_note(graph, note<'a'>);
    CUgraphNode found = nullptr, other = nullptr;
    CUgraphExec exec = nullptr;
    std::size_t count = 0;
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphNodeFindInClone(&found, node, clone));
    ask("found another node", found && found != node);
    ASK(cuGraphAddEmptyNode(&other, graph, nullptr, 0));
    ASK(cuGraphNodeFindInClone(&found, other, clone));
    ASK(cuGraphGetNodes(clone, nullptr, &count));
    ask_number("nodes of the clone", static_cast<long long>(count));
    ASK(cuGraphDestroy(graph));
    ASK(cuGraphInstantiate(&exec, clone, 0));
    ASK(cuGraphClone(nullptr, clone));
    ASK(cuGraphClone(&clone, nullptr));
    ASK(cuGraphDestroy(nullptr));
    ASK(cuGraphExecDestroy(nullptr));
    ASK(cuGraphLaunch(nullptr, make_stream()));
    ASK(cuGraphDestroyNode(nullptr));
}

void event_nodes() {
    setting s;
    CUgraph const graph = with_record(s.event);
    CUgraphNode nodes[1] = {};
    std::size_t count = 1;
    CUgraphExec exec = nullptr;
    CUevent read = nullptr;
    CUstream const stream = make_stream();
    ASK(cuGraphGetNodes(graph, nodes, &count));
    ASK(cuGraphEventRecordNodeGetEvent(nodes[0], &read));
    ask("event read", read == s.event);
    ASK(cuGraphEventWaitNodeGetEvent(nodes[0], &read));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphExecEventRecordNodeSetEvent(exec, nodes[0], s.second));
    gate shut(stream);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuEventQuery(s.event));
    ASK(cuEventQuery(s.second));
    shut.open();
    ASK(cuEventSynchronize(s.second));
    ASK(cuGraphEventRecordNodeSetEvent(nodes[0], s.second));
    ASK(cuGraphEventRecordNodeSetEvent(nodes[0], nullptr));
}

}  // namespace

group const update_groups[] = {{"update_shapes", update_shapes},
                               {"update_kinds", update_kinds},
                               {"update_reordered", update_reordered},
                               {"update_with_other_context", update_with_other_context},
                               {"update_memory_nodes", update_memory_nodes},
                               {"update_flags", update_flags},
                               {"node_params", node_params},
                               {"exec_node_params", exec_node_params},
                               {"disabled_nodes", disabled_nodes},
                               {"memory_operation_nodes", memory_operation_nodes},
                               {"order_of_nodes", order_of_nodes},
                               {"destroyed_nodes", destroyed_nodes},
                               {"clones", clones},
                               {"event_nodes", event_nodes},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
