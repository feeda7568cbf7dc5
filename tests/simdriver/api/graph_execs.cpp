// Executable graphs: made, updated, launched, destroyed; graph memory of a device.
#include <algorithm>

#include "tests/simdriver/api/node_work.h"

namespace lastref::simdriver {
namespace {

constexpr unsigned long long known_flags = 15;

bool for_a_body(node const& one) {
    switch (type_of(one.what)) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
        case CU_GRAPH_NODE_TYPE_EMPTY:
        case CU_GRAPH_NODE_TYPE_MEMCPY:
        case CU_GRAPH_NODE_TYPE_MEMSET:
        case CU_GRAPH_NODE_TYPE_GRAPH:
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return true;
        default:
            return false;
    }
}

bool good_bodies(node const& one) {
    auto const* const conditional = std::get_if<conditional_work>(&one.what);
    return !conditional ||
           std::all_of(conditional->bodies.begin(), conditional->bodies.end(), [](graph_ptr const& body) {
               return !any_node(*body, [](node const& each) { return !for_a_body(each); });
           });
}

bool for_the_device(node const& one) {
    auto const type = type_of(one.what);
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH;
}

// What adding nodes and edges does not find out: cycles, handles without a node, bodies with what does not belong
// there.
bool well_formed(graph const& of) {
    bool const used =
        std::all_of(of.conditionals.begin(), of.conditionals.end(), [](auto const& each) { return each.second->used; });
    return used && in_order(of).size() == of.nodes.size() &&
           !any_node(of, [](node const& each) { return !good_bodies(each); });
}

CUresult instantiate(call const& c, CUgraphExec* out, CUgraph handle, unsigned long long flags) {
    auto const from = graphs().find(handle);
    if (!out || !from || flags & ~known_flags || !well_formed(*from)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(unsafe(c));
    bool const device = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (device && any_node(*from, [](node const& each) { return !for_the_device(each); }))
        return CUDA_ERROR_INVALID_VALUE;
    if (!from->instantiated.expired()) return CUDA_ERROR_NOT_SUPPORTED;
    auto made = std::make_shared<exec>();
    made->copy = clone(*from, copy_for::execution);
    made->flags = flags & ~static_cast<unsigned long long>(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    if (has_memory_nodes(*from)) from->instantiated = made;
    *out = execs().add(made);
    return CUDA_SUCCESS;
}

CUresult find(CUgraphExec handle, exec_ptr& out) {
    out = execs().find(handle);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::size_t position(graph const& in, node const* of) {
    for (std::size_t index = 0; index < in.nodes.size(); ++index)
        if (in.nodes[index].get() == of) return index;
    return SIZE_MAX;
}

bool same_edges(graph const& a, node const& in_a, graph const& b, node const& in_b) {
    return in_a.after.size() == in_b.after.size() &&
           std::equal(in_a.after.begin(), in_a.after.end(), in_b.after.begin(),
                      [&](edge const& x, edge const& y) { return position(a, x.from) == position(b, y.from); });
}

// What first keeps an executable graph from being updated to a graph: the graph's node and the reason.
struct difference {
    CUgraphExecUpdateResult reason = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    CUgraphNode at = nullptr;
};

difference compare(graph const& old, graph const& wanted);

difference compare_nodes(graph const& old, node const& of_old, graph const& wanted, node const& of_wanted) {
    if (of_old.what.index() != of_wanted.what.index())
        return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, of_wanted.handle};
    if (!same_edges(old, of_old, wanted, of_wanted))
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                of_wanted.after.size() > of_old.after.size() ? nullptr : of_wanted.handle};
    if (!replaceable(of_old.what, of_wanted.what))
        return {CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, of_wanted.handle};
    auto const inside_old = graphs_inside(of_old), inside_wanted = graphs_inside(of_wanted);
    if (inside_old.size() != inside_wanted.size())
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, of_wanted.handle};
    for (std::size_t index = 0; index < inside_old.size(); ++index) {
        difference const found = compare(*inside_old[index], *inside_wanted[index]);
        if (found.reason != CU_GRAPH_EXEC_UPDATE_SUCCESS) return found;
    }
    return {};
}

difference compare(graph const& old, graph const& wanted) {
    if (old.nodes.size() != wanted.nodes.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
    for (std::size_t index = 0; index < old.nodes.size(); ++index) {
        difference const found = compare_nodes(old, *old.nodes[index], wanted, *wanted.nodes[index]);
        if (found.reason != CU_GRAPH_EXEC_UPDATE_SUCCESS) return found;
    }
    return {};
}

// The new source's references are cloned and replace the target's, which go when launches under way have finished. The
// nodes stay those of the graph that the executable graph was made from.
void replace_contents(graph& target, graph const& source) {
    target.references = std::make_shared<reference_set>(*source.references);
    for (std::size_t index = 0; index < target.nodes.size(); ++index) {
        node &old = *target.nodes[index], &wanted = *source.nodes[index];
        auto const inside_old = graphs_inside(old), inside_wanted = graphs_inside(wanted);
        for (std::size_t inner = 0; inner < inside_old.size(); ++inner)
            replace_contents(*inside_old[inner], *inside_wanted[inner]);
        if (inside_old.empty()) old.what = wanted.what;
    }
}

CUresult update(CUgraphExec target, CUgraph source, difference& found) {
    exec_ptr of;
    auto const wanted = graphs().find(source);
    SIM_TRY(find(target, of));
    if (!wanted) return CUDA_ERROR_INVALID_VALUE;
    found = compare(*of->copy, *wanted);
    if (found.reason != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    replace_contents(*of->copy, *wanted);
    return CUDA_SUCCESS;
}

CUresult graph_memory_attribute(device& of, CUgraphMem_attribute which, std::uint64_t*& value) {
    switch (which) {
        case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
            value = &of.graph_used;
            break;
        case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
            value = &of.graph_used_high;
            break;
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
            value = &of.graph_reserved;
            break;
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
            value = &of.graph_reserved_high;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuGraphInstantiate(call const& c, CUgraphExec* out, CUgraph handle, CUgraphNode* error, char*, std::size_t) {
    put(error, nullptr);
    return instantiate(c, out, handle, 0);
}

// There is no stream to upload on.
CUresult cuGraphInstantiateWithFlags(call const& c, CUgraphExec* out, CUgraph handle, unsigned long long flags) {
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) return CUDA_ERROR_INVALID_VALUE;
    return instantiate(c, out, handle, flags);
}

CUresult cuGraphInstantiateWithParams(call const& c, CUgraphExec* out, CUgraph handle,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    params->hErrNode_out = nullptr;
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    stream_ptr upload;
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) SIM_TRY(resolve(c, params->hUploadStream, upload));
    SIM_TRY(instantiate(c, out, handle, params->flags));
    params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(call const&, CUgraphExec handle, cuuint64_t* flags) {
    exec_ptr of;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, of));
    *flags = of->flags;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(call const&, CUgraphExec target, CUgraph source, CUgraphNode* error,
                           CUgraphExecUpdateResult* reason) {
    difference found;
    CUresult const result = update(target, source, found);
    put(error, found.at);
    if (reason) *reason = found.reason;
    return result;
}

CUresult cuGraphExecUpdate(call const&, CUgraphExec target, CUgraph source, CUgraphExecUpdateResultInfo* info) {
    difference found;
    CUresult const result = update(target, source, found);
    if (info) *info = {found.reason, found.at, nullptr};
    return result;
}

CUresult cuGraphExecChildGraphNodeSetParams(call const&, CUgraphExec handle, CUgraphNode original, CUgraph child) {
    exec_ptr in;
    auto const of = nodes().find(original);
    auto const wanted = graphs().find(child);
    SIM_TRY(find(handle, in));
    auto const target = of ? find_clone(*in->copy, of->id) : nullptr;
    auto const* const held = target ? std::get_if<child_work>(&target->what) : nullptr;
    if (!held || !wanted) return CUDA_ERROR_INVALID_VALUE;
    if (compare(*held->child, *wanted).reason != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    replace_contents(*held->child, *wanted);
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(call const& c, CUgraphExec handle, CUstream token) {
    exec_ptr what;
    stream_ptr on;
    SIM_TRY(find(handle, what));
    SIM_TRY(resolve(c, token, on));
    return on->capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : enqueue(c, on, empty_work{});
}

CUresult cuGraphLaunch(call const& c, CUgraphExec handle, CUstream token) {
    exec_ptr what;
    stream_ptr on;
    SIM_TRY(find(handle, what));
    SIM_TRY(resolve(c, token, on));
    SIM_TRY(forbid_capturing(*on));  // executable graphs cannot be captured
    return launch(c, what, *on);
}

// Allowed while a launch runs: it keeps what it needs, references included, until it has finished.
CUresult cuGraphExecDestroy(call const& c, CUgraphExec handle) {
    exec_ptr gone;
    SIM_TRY(unsafe(c));  // measured: before the handle is looked at
    SIM_TRY(find(handle, gone));
    execs().remove(handle);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(call const&, CUdevice dev) {
    device* const of = find_device(dev);
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    of->graph_used = graph_bytes(*of);
    give_bytes(*of, of->graph_reserved - of->graph_used);
    of->graph_reserved = of->graph_used;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(call const&, CUdevice dev, CUgraphMem_attribute which, void* value) {
    std::uint64_t* held = nullptr;
    device* const of = find_device(dev);
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    SIM_TRY(graph_memory_attribute(*of, which, held));
    *static_cast<cuuint64_t*>(value) = *held;
    return CUDA_SUCCESS;
}

// Only the high-water marks can be set, and only to zero, which starts them again.
CUresult cuDeviceSetGraphMemAttribute(call const&, CUdevice dev, CUgraphMem_attribute which, void* value) {
    device* const of = find_device(dev);
    if (!value || *static_cast<cuuint64_t*>(value)) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    if (which == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        of->graph_used_high = of->graph_used;
    else if (which == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        of->graph_reserved_high = of->graph_reserved;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
