// Graphs: made, cloned, destroyed; their nodes added; their shape read and changed.
#include <algorithm>
#include <fstream>

#include "tests/simdriver/api/node_work.h"

namespace lastref::simdriver {
namespace {

CUresult find(CUgraph handle, graph_ptr& out) {
    out = graphs().find(handle);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult find(CUgraphNode handle, node_ptr& out) {
    out = nodes().find(handle);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult edges_from(graph const& in, CUgraphNode const* handles, CUgraphEdgeData const* data, std::size_t count,
                    std::vector<edge>& out) {
    if (count && !handles) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) {
        auto const from = nodes().find(handles[index]);
        if (!from || from->of != &in) return CUDA_ERROR_INVALID_VALUE;
        out.push_back({from.get(), data ? data[index] : CUgraphEdgeData{}});
    }
    return CUDA_SUCCESS;
}

// Adds a node whose work `make` checks and produces.
template <class Make>
CUresult add(CUgraphNode* out, CUgraph to, CUgraphNode const* after, CUgraphEdgeData const* data, std::size_t count,
             Make make) {
    graph_ptr into;
    std::vector<edge> edges;
    work what;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(to, into));
    SIM_TRY(edges_from(*into, after, data, count, edges));
    SIM_TRY(make(*into, what));
    *out = add_node(*into, std::move(what), std::move(edges))->handle;
    return CUDA_SUCCESS;
}

CUresult add_any(CUgraphNode* out, CUgraph to, CUgraphNode const* after, CUgraphEdgeData const* data, std::size_t count,
                 CUgraphNodeParams* params) {
    SIM_TRY(
        add(out, to, after, data, count, [params](graph& into, work& what) { return work_from(into, params, what); }));
    auto const made = nodes().find(*out);
    if (auto const* const conditional = std::get_if<conditional_work>(&made->what))
        params->conditional.phGraph_out = conditional->params.phGraph_out;
    return CUDA_SUCCESS;
}

// Lists as the API returns them: the count alone when there is no array; what is beyond the list is filled with null.
template <class Handle>
CUresult write_list(std::vector<Handle> const& list, Handle* out, std::size_t* count) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (!out) {
        *count = list.size();
        return CUDA_SUCCESS;
    }
    for (std::size_t index = 0; index < *count; ++index) out[index] = index < list.size() ? list[index] : Handle{};
    *count = std::min(*count, list.size());
    return CUDA_SUCCESS;
}

struct edge_list {
    std::vector<CUgraphNode> from, to;
    std::vector<CUgraphEdgeData> data;
};

edge_list edges_of(graph const& of) {
    edge_list all;
    for (auto const& each : of.nodes) {
        for (auto const& one : each->after) {
            all.from.push_back(one.from->handle);
            all.to.push_back(each->handle);
            all.data.push_back(one.data);
        }
    }
    return all;
}

CUresult get_edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
    graph_ptr of;
    if (!count || !from != !to) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    edge_list const all = edges_of(*of);
    std::size_t room = *count, same = *count;
    if (data) SIM_TRY(write_list(all.data, data, &same));
    SIM_TRY(write_list(all.to, to, &room));
    return write_list(all.from, from, count);
}

CUresult get_dependencies(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data, std::size_t* count) {
    node_ptr of;
    std::vector<CUgraphNode> list;
    std::vector<CUgraphEdgeData> data_list;
    SIM_TRY(find(handle, of));
    for (auto const& each : of->after) {
        list.push_back(each.from->handle);
        data_list.push_back(each.data);
    }
    std::size_t same = count ? *count : 0;
    if (data) SIM_TRY(write_list(data_list, data, &same));
    return write_list(list, out, count);
}

CUresult get_dependents(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data, std::size_t* count) {
    node_ptr of;
    std::vector<CUgraphNode> list;
    std::vector<CUgraphEdgeData> data_list;
    SIM_TRY(find(handle, of));
    for (auto const& each : of->of->nodes) {
        for (auto const& one : each->after) {
            if (one.from != of.get()) continue;
            list.push_back(each->handle);
            data_list.push_back(one.data);
        }
    }
    std::size_t same = count ? *count : 0;
    if (data) SIM_TRY(write_list(data_list, data, &same));
    return write_list(list, out, count);
}

CUresult find_pair(graph const& in, CUgraphNode from, CUgraphNode to, node_ptr& first, node_ptr& second) {
    SIM_TRY(find(from, first));
    SIM_TRY(find(to, second));
    return first->of == &in && second->of == &in && first != second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool depends(node const& on, node const& from) {
    return std::any_of(on.after.begin(), on.after.end(), [&from](edge const& each) { return each.from == &from; });
}

CUresult add_edges(CUgraph handle, CUgraphNode const* from, CUgraphNode const* to, CUgraphEdgeData const* data,
                   std::size_t count) {
    graph_ptr in;
    SIM_TRY(find(handle, in));
    if (count && any_null(from, to)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) {
        node_ptr first, second;
        SIM_TRY(find_pair(*in, from[index], to[index], first, second));
        if (depends(*second, *first)) return CUDA_ERROR_INVALID_VALUE;  // a cycle is found at instantiation only
        second->after.push_back({first.get(), data ? data[index] : CUgraphEdgeData{}});
    }
    return CUDA_SUCCESS;
}

CUresult remove_edges(CUgraph handle, CUgraphNode const* from, CUgraphNode const* to, std::size_t count) {
    graph_ptr in;
    SIM_TRY(find(handle, in));
    if (count && any_null(from, to)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) {
        node_ptr first, second;
        SIM_TRY(find_pair(*in, from[index], to[index], first, second));
        std::size_t const removed =
            std::erase_if(second->after, [&first](edge const& each) { return each.from == first.get(); });
        if (!removed) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

bool has_conditionals(graph const& of) {
    return !of.conditionals.empty() ||
           any_node(of, [](node const& each) { return std::holds_alternative<conditional_work>(each.what); });
}

// A graph with memory nodes, conditional nodes or handles for such can be neither cloned nor put into another as a
// child.
bool copyable(graph const& of) {
    return !has_memory_nodes(of) && !has_conditionals(of);
}

char const* name_of(CUgraphNodeType type) {
    switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return "kernel";
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return "memcpy";
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return "memset";
        case CU_GRAPH_NODE_TYPE_HOST:
            return "host";
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return "graph";
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return "alloc";
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return "free";
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return "conditional";
        default:
            return "node";
    }
}

void print_nodes(graph const& of, std::ostream& out) {
    for (auto const& each : of.nodes) {
        out << "  n" << each->id << " [label=\"" << name_of(type_of(each->what)) << "\"];\n";
        for (auto const& one : each->after) out << "  n" << one.from->id << " -> n" << each->id << ";\n";
        for (auto const& inside : graphs_inside(*each)) print_nodes(*inside, out);
    }
}

}  // namespace

namespace api {

CUresult cuGraphCreate(call const&, CUgraph* out, unsigned int flags) {
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    *out = make_graph()->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(call const&, CUgraph handle) {
    graph_ptr gone;
    SIM_TRY(find(handle, gone));
    if (gone->embedded) return CUDA_ERROR_INVALID_VALUE;
    destroy_graph(gone);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(call const&, CUgraph* out, CUgraph handle) {
    graph_ptr from;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, from));
    if (!copyable(*from)) return CUDA_ERROR_NOT_SUPPORTED;
    *out = clone(*from, copy_for::program)->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count) {
    return add(out, to, after, nullptr, count, [](graph&, work& what) {
        what = empty_work{};
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphAddKernelNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                              CUDA_KERNEL_NODE_PARAMS_v1 const* params) {
    return add(out, to, after, nullptr, count, [params](graph&, work& what) { return kernel_from(params, what); });
}

CUresult cuGraphAddKernelNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                              CUDA_KERNEL_NODE_PARAMS const* params) {
    return add(out, to, after, nullptr, count, [params](graph&, work& what) { return kernel_from(params, what); });
}

CUresult cuGraphAddMemcpyNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                              CUDA_MEMCPY3D const* params, CUcontext ctx) {
    return add(out, to, after, nullptr, count, [=](graph&, work& what) { return copy_from(params, ctx, what); });
}

CUresult cuGraphAddMemsetNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                              CUDA_MEMSET_NODE_PARAMS const* params, CUcontext ctx) {
    return add(out, to, after, nullptr, count, [=](graph&, work& what) { return set_from(params, ctx, what); });
}

CUresult cuGraphAddHostNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                            CUDA_HOST_NODE_PARAMS const* params) {
    return add(out, to, after, nullptr, count, [params](graph&, work& what) { return host_from(params, what); });
}

CUresult cuGraphAddEventRecordNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                                   std::size_t count, CUevent event) {
    return add(out, to, after, nullptr, count, [event](graph&, work& what) { return record_from(event, what); });
}

CUresult cuGraphAddEventWaitNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                                 CUevent event) {
    return add(out, to, after, nullptr, count, [event](graph&, work& what) { return wait_from(event, what); });
}

CUresult cuGraphAddBatchMemOpNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                                  std::size_t count, CUDA_BATCH_MEM_OP_NODE_PARAMS const* params) {
    return add(out, to, after, nullptr, count, [params](graph&, work& what) { return batch_from(params, what); });
}

CUresult cuGraphAddExternalSemaphoresSignalNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                                                std::size_t count, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS const* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return add(out, to, after, nullptr, count, [params](graph&, work& what) {
        return signal_from(params->extSemArray, params->paramsArray, params->numExtSems, what);
    });
}

CUresult cuGraphAddExternalSemaphoresWaitNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                                              std::size_t count, CUDA_EXT_SEM_WAIT_NODE_PARAMS const* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return add(out, to, after, nullptr, count, [params](graph&, work& what) {
        return await_from(params->extSemArray, params->paramsArray, params->numExtSems, what);
    });
}

CUresult cuGraphAddChildGraphNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                                  std::size_t count, CUgraph child) {
    auto const from = graphs().find(child);
    if (from && !copyable(*from)) return CUDA_ERROR_NOT_SUPPORTED;
    return add(out, to, after, nullptr, count, [child](graph&, work& what) { return child_from(child, what); });
}

CUresult cuGraphAddMemAllocNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
    return add(out, to, after, nullptr, count, [params](graph&, work& what) { return alloc_from(params, what); });
}

CUresult cuGraphAddMemFreeNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                               CUdeviceptr address) {
    return add(out, to, after, nullptr, count,
               [address](graph& into, work& what) { return free_from(into, address, what); });
}

CUresult cuGraphAddNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after, std::size_t count,
                        CUgraphNodeParams* params) {
    return add_any(out, to, after, nullptr, count, params);
}

CUresult cuGraphAddNode(call const&, CUgraphNode* out, CUgraph to, CUgraphNode const* after,
                        CUgraphEdgeData const* data, std::size_t count, CUgraphNodeParams* params) {
    return add_any(out, to, after, data, count, params);
}

CUresult cuGraphConditionalHandleCreate(call const&, CUgraphConditionalHandle* out, CUgraph handle, CUcontext ctx,
                                        unsigned int initial, unsigned int flags) {
    static CUgraphConditionalHandle last = 0;
    graph_ptr of;
    if (!out || flags & ~static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    if (!driver().contexts.find(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    auto made = std::make_shared<conditional_value>();
    made->handle = ++last;
    made->initial = initial;
    made->assigned_at_launch = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
    of->conditionals[made->handle] = made;
    *out = made->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(call const&, CUgraphNode handle) {
    node_ptr gone;
    SIM_TRY(find(handle, gone));
    if (std::holds_alternative<alloc_work>(gone->what) || std::holds_alternative<free_work>(gone->what))
        return CUDA_ERROR_NOT_SUPPORTED;
    destroy_node(gone);
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(call const&, CUgraphNode handle, CUgraph* out) {
    node_ptr of;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    auto const* const child = std::get_if<child_work>(&of->what);
    if (!child) return CUDA_ERROR_INVALID_VALUE;
    *out = child->child->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(call const&, CUgraphNode* out, CUgraphNode original, CUgraph handle) {
    graph_ptr in;
    node_ptr of;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, in));
    SIM_TRY(find(original, of));
    auto const found = find_clone(*in, of->id);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *out = found->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(call const&, CUgraph handle, CUgraphNode const* from, CUgraphNode const* to,
                                std::size_t count) {
    return add_edges(handle, from, to, nullptr, count);
}

CUresult cuGraphAddDependencies(call const&, CUgraph handle, CUgraphNode const* from, CUgraphNode const* to,
                                CUgraphEdgeData const* data, std::size_t count) {
    return add_edges(handle, from, to, data, count);
}

CUresult cuGraphRemoveDependencies(call const&, CUgraph handle, CUgraphNode const* from, CUgraphNode const* to,
                                   std::size_t count) {
    return remove_edges(handle, from, to, count);
}

CUresult cuGraphRemoveDependencies(call const&, CUgraph handle, CUgraphNode const* from, CUgraphNode const* to,
                                   CUgraphEdgeData const*, std::size_t count) {
    return remove_edges(handle, from, to, count);
}

CUresult cuGraphGetNodes(call const&, CUgraph handle, CUgraphNode* out, std::size_t* count) {
    graph_ptr of;
    std::vector<CUgraphNode> list;
    SIM_TRY(find(handle, of));
    for (auto const& each : of->nodes) list.push_back(each->handle);
    return write_list(list, out, count);
}

CUresult cuGraphGetRootNodes(call const&, CUgraph handle, CUgraphNode* out, std::size_t* count) {
    graph_ptr of;
    std::vector<CUgraphNode> list;
    SIM_TRY(find(handle, of));
    for (auto const& each : of->nodes)
        if (each->after.empty()) list.push_back(each->handle);
    return write_list(list, out, count);
}

CUresult cuGraphGetEdges(call const&, CUgraph handle, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
    return get_edges(handle, from, to, nullptr, count);
}

CUresult cuGraphGetEdges(call const&, CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count) {
    return get_edges(handle, from, to, data, count);
}

CUresult cuGraphNodeGetDependencies(call const&, CUgraphNode handle, CUgraphNode* out, std::size_t* count) {
    return get_dependencies(handle, out, nullptr, count);
}

CUresult cuGraphNodeGetDependencies(call const&, CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                                    std::size_t* count) {
    return get_dependencies(handle, out, data, count);
}

CUresult cuGraphNodeGetDependentNodes(call const&, CUgraphNode handle, CUgraphNode* out, std::size_t* count) {
    return get_dependents(handle, out, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes(call const&, CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                                      std::size_t* count) {
    return get_dependents(handle, out, data, count);
}

CUresult cuGraphNodeGetType(call const&, CUgraphNode handle, CUgraphNodeType* type) {
    node_ptr of;
    if (!type) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    *type = type_of(of->what);
    return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(call const&, CUgraph handle, char const* path, unsigned int) {
    graph_ptr of;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    std::ofstream out(path);
    out << "digraph dot {\n";
    print_nodes(*of, out);
    out << "}\n";
    return out.flush() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace api
}  // namespace lastref::simdriver
