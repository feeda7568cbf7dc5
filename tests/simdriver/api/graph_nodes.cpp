// The parameters of nodes, read and set, in graphs and in executable graphs.
#include "tests/simdriver/api/node_work.h"

namespace lastref::simdriver {
namespace {

template <class Work>
CUresult find(CUgraphNode handle, node_ptr& out) {
    out = nodes().find(handle);
    return out && std::holds_alternative<Work>(out->what) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Replaces the work of a node by work of the same kind. No reference moves.
template <class Make>
CUresult set(CUgraphNode handle, Make make) {
    auto const of = nodes().find(handle);
    work what;
    if (!of) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(make(what));
    if (what.index() != of->what.index()) return CUDA_ERROR_INVALID_VALUE;
    of->what = std::move(what);
    return CUDA_SUCCESS;
}

// The node of the executable graph that stands for a node of the graph it was made from.
CUresult find_in(CUgraphExec handle, CUgraphNode original, node_ptr& out) {
    auto const in = execs().find(handle);
    auto const of = nodes().find(original);
    if (!in || !of) return CUDA_ERROR_INVALID_VALUE;
    out = find_clone(*in->copy, of->id);
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// No reference moves here either, and nothing can retain on an executable graph: a new payload must outlive it.
template <class Make>
CUresult set_in(CUgraphExec handle, CUgraphNode original, Make make) {
    node_ptr of;
    work what;
    SIM_TRY(find_in(handle, original, of));
    SIM_TRY(make(what));
    if (what.index() != of->what.index() || !replaceable(of->what, what)) return CUDA_ERROR_INVALID_VALUE;
    of->what = std::move(what);
    return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v1 shortened(CUDA_KERNEL_NODE_PARAMS const& p) {
    return {p.func,      p.gridDimX,  p.gridDimY,       p.gridDimZ,     p.blockDimX,
            p.blockDimY, p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra};
}

bool settable(CUgraphNodeParams const* params) {
    return params && params->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && params->type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
           params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

}  // namespace

namespace api {

CUresult cuGraphKernelNodeGetParams(call const&, CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<kernel_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = std::get<kernel_work>(of->what).params;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(call const&, CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* params) {
    node_ptr of;
    SIM_TRY(find<kernel_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = shortened(std::get<kernel_work>(of->what).params);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(call const&, CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS const* params) {
    return set(handle, [params](work& what) { return kernel_from(params, what); });
}

CUresult cuGraphKernelNodeSetParams(call const&, CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 const* params) {
    return set(handle, [params](work& what) { return kernel_from(params, what); });
}

CUresult cuGraphMemcpyNodeGetParams(call const&, CUgraphNode handle, CUDA_MEMCPY3D* params) {
    node_ptr of;
    SIM_TRY(find<copy_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = std::get<copy_work>(of->what).params;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(call const&, CUgraphNode handle, CUDA_MEMCPY3D const* params) {
    node_ptr of;
    SIM_TRY(find<copy_work>(handle, of));
    return set(handle, [&](work& what) { return copy_from(params, std::get<copy_work>(of->what).ctx, what); });
}

CUresult cuGraphMemsetNodeGetParams(call const&, CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<set_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = std::get<set_work>(of->what).params;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(call const&, CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS const* params) {
    node_ptr of;
    SIM_TRY(find<set_work>(handle, of));
    return set(handle, [&](work& what) { return set_from(params, std::get<set_work>(of->what).ctx, what); });
}

CUresult cuGraphHostNodeGetParams(call const&, CUgraphNode handle, CUDA_HOST_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<host_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    auto const& host = std::get<host_work>(of->what);
    *params = {host.function, host.data};
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(call const&, CUgraphNode handle, CUDA_HOST_NODE_PARAMS const* params) {
    return set(handle, [params](work& what) { return host_from(params, what); });
}

CUresult cuGraphEventRecordNodeGetEvent(call const&, CUgraphNode handle, CUevent* event) {
    node_ptr of;
    SIM_TRY(find<record_work>(handle, of));
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    *event = std::get<record_work>(of->what).what->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeSetEvent(call const&, CUgraphNode handle, CUevent event) {
    return set(handle, [event](work& what) { return record_from(event, what); });
}

CUresult cuGraphEventWaitNodeGetEvent(call const&, CUgraphNode handle, CUevent* event) {
    node_ptr of;
    SIM_TRY(find<wait_work>(handle, of));
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    *event = std::get<wait_work>(of->what).what->handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphEventWaitNodeSetEvent(call const&, CUgraphNode handle, CUevent event) {
    return set(handle, [event](work& what) { return wait_from(event, what); });
}

CUresult cuGraphBatchMemOpNodeGetParams(call const&, CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<batch_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    auto& batch = std::get<batch_work>(of->what);
    *params = {batch.ctx, static_cast<unsigned>(batch.operations.size()), batch.operations.data(), batch.flags};
    return CUDA_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeSetParams(call const&, CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS const* params) {
    return set(handle, [params](work& what) { return batch_from(params, what); });
}

CUresult cuGraphExternalSemaphoresSignalNodeGetParams(call const&, CUgraphNode handle,
                                                      CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<signal_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    auto& what = std::get<signal_work>(of->what);
    *params = {what.handles.data(), what.params.data(), static_cast<unsigned>(what.handles.size())};
    return CUDA_SUCCESS;
}

CUresult cuGraphExternalSemaphoresSignalNodeSetParams(call const&, CUgraphNode handle,
                                                      CUDA_EXT_SEM_SIGNAL_NODE_PARAMS const* p) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    return set(handle, [p](work& what) { return signal_from(p->extSemArray, p->paramsArray, p->numExtSems, what); });
}

CUresult cuGraphExternalSemaphoresWaitNodeGetParams(call const&, CUgraphNode handle,
                                                    CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<await_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    auto& what = std::get<await_work>(of->what);
    *params = {what.handles.data(), what.params.data(), static_cast<unsigned>(what.handles.size())};
    return CUDA_SUCCESS;
}

CUresult cuGraphExternalSemaphoresWaitNodeSetParams(call const&, CUgraphNode handle,
                                                    CUDA_EXT_SEM_WAIT_NODE_PARAMS const* p) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    return set(handle, [p](work& what) { return await_from(p->extSemArray, p->paramsArray, p->numExtSems, what); });
}

CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                                          CUDA_EXT_SEM_SIGNAL_NODE_PARAMS const* p) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    return set_in(in, handle,
                  [p](work& what) { return signal_from(p->extSemArray, p->paramsArray, p->numExtSems, what); });
}

CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                                        CUDA_EXT_SEM_WAIT_NODE_PARAMS const* p) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    return set_in(in, handle,
                  [p](work& what) { return await_from(p->extSemArray, p->paramsArray, p->numExtSems, what); });
}

CUresult cuGraphKernelNodeCopyAttributes(call const&, CUgraphNode to, CUgraphNode from) {
    node_ptr target, source;
    SIM_TRY(find<kernel_work>(to, target));
    SIM_TRY(find<kernel_work>(from, source));
    target->attributes = source->attributes;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(call const&, CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
    node_ptr of;
    SIM_TRY(find<alloc_work>(handle, of));
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = std::get<alloc_work>(of->what).params;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(call const&, CUgraphNode handle, CUdeviceptr* address) {
    node_ptr of;
    SIM_TRY(find<free_work>(handle, of));
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    *address = std::get<free_work>(of->what).address;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetParams(call const&, CUgraphNode handle, CUgraphNodeParams* params) {
    auto const of = nodes().find(handle);
    if (!of || !settable(params)) return CUDA_ERROR_INVALID_VALUE;
    return set(handle, [&](work& what) { return work_from(*of->of, params, what); });
}

CUresult cuGraphKernelNodeGetAttribute(call const&, CUgraphNode handle, CUkernelNodeAttrID which,
                                       CUkernelNodeAttrValue* value) {
    node_ptr of;
    SIM_TRY(find<kernel_work>(handle, of));
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *value = of->attributes[which];
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(call const&, CUgraphNode handle, CUkernelNodeAttrID which,
                                       CUkernelNodeAttrValue const* value) {
    node_ptr of;
    SIM_TRY(find<kernel_work>(handle, of));
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    of->attributes[which] = *value;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                        CUDA_KERNEL_NODE_PARAMS const* params) {
    return set_in(in, handle, [params](work& what) { return kernel_from(params, what); });
}

CUresult cuGraphExecKernelNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                        CUDA_KERNEL_NODE_PARAMS_v1 const* params) {
    return set_in(in, handle, [params](work& what) { return kernel_from(params, what); });
}

CUresult cuGraphExecMemcpyNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle, CUDA_MEMCPY3D const* params,
                                        CUcontext ctx) {
    return set_in(in, handle, [=](work& what) { return copy_from(params, ctx, what); });
}

CUresult cuGraphExecMemsetNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                        CUDA_MEMSET_NODE_PARAMS const* params, CUcontext ctx) {
    return set_in(in, handle, [=](work& what) { return set_from(params, ctx, what); });
}

CUresult cuGraphExecHostNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                      CUDA_HOST_NODE_PARAMS const* params) {
    return set_in(in, handle, [params](work& what) { return host_from(params, what); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(call const&, CUgraphExec in, CUgraphNode handle, CUevent event) {
    return set_in(in, handle, [event](work& what) { return record_from(event, what); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(call const&, CUgraphExec in, CUgraphNode handle, CUevent event) {
    return set_in(in, handle, [event](work& what) { return wait_from(event, what); });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle,
                                            CUDA_BATCH_MEM_OP_NODE_PARAMS const* params) {
    return set_in(in, handle, [params](work& what) { return batch_from(params, what); });
}

CUresult cuGraphExecNodeSetParams(call const&, CUgraphExec in, CUgraphNode handle, CUgraphNodeParams* params) {
    node_ptr of;
    SIM_TRY(find_in(in, handle, of));
    if (!settable(params) || params->type == CU_GRAPH_NODE_TYPE_GRAPH) return CUDA_ERROR_INVALID_VALUE;
    return set_in(in, handle, [&](work& what) { return work_from(*of->of, params, what); });
}

CUresult cuGraphNodeSetEnabled(call const&, CUgraphExec in, CUgraphNode handle, unsigned int enabled) {
    node_ptr of;
    SIM_TRY(find_in(in, handle, of));
    CUgraphNodeType const type = type_of(of->what);
    bool const can =
        type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY;
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    of->enabled = enabled;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(call const&, CUgraphExec in, CUgraphNode handle, unsigned int* enabled) {
    node_ptr of;
    if (!enabled) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find_in(in, handle, of));
    *enabled = of->enabled;
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
