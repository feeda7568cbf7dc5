#include "tests/simdriver/api/node_work.h"

#include "tests/simdriver/core/modules.h"

namespace lastref::simdriver {
namespace {

bool known_context(CUcontext ctx) {
    return driver().contexts.find(ctx) != nullptr;
}

// The caller reads the address, or the body graphs, out of the parameters that it passed in.
CUresult alloc_in_place(CUgraphNodeParams& params, work& out) {
    auto* const alloc = reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(&params.alloc);
    return alloc_from(alloc, out);
}

CUresult kernel_in(CUgraphNodeParams const& params, work& out) {
    auto const& k = params.kernel;
    CUDA_KERNEL_NODE_PARAMS const kernel{k.func,         k.gridDimX,  k.gridDimY,  k.gridDimZ,
                                         k.blockDimX,    k.blockDimY, k.blockDimZ, k.sharedMemBytes,
                                         k.kernelParams, k.extra,     k.kern,      k.ctx};
    return kernel_from(&kernel, out);
}

CUresult set_in(CUgraphNodeParams const& params, work& out) {
    auto const& m = params.memset;
    CUDA_MEMSET_NODE_PARAMS const set{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
    return set_from(&set, m.ctx, out);
}

CUresult host_in(CUgraphNodeParams const& params, work& out) {
    CUDA_HOST_NODE_PARAMS const host{params.host.fn, params.host.userData};
    return host_from(&host, out);
}

CUresult batch_in(CUgraphNodeParams const& params, work& out) {
    auto const& b = params.memOp;
    CUDA_BATCH_MEM_OP_NODE_PARAMS const batch{b.ctx, b.count, b.paramArray, b.flags};
    return batch_from(&batch, out);
}

// Fills one of the two kinds of semaphore work; all semaphores must exist.
template <class Work, class Params>
CUresult semaphores_from(CUexternalSemaphore const* handles, Params const* params, unsigned count, work& out) {
    Work what;
    if (any_null(handles, params) || !count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned index = 0; index < count; ++index) {
        auto const semaphore = semaphores().find(handles[index]);
        if (!semaphore) return CUDA_ERROR_INVALID_VALUE;
        what.semaphores.push_back(semaphore);
        what.handles.push_back(handles[index]);
        what.params.push_back(params[index]);
    }
    out = std::move(what);
    return CUDA_SUCCESS;
}

// A graph that is moved becomes the node's own; otherwise the node gets a copy.
CUresult child_in(CUgraphNodeParams const& params, work& out) {
    auto const from = graphs().find(params.graph.graph);
    if (params.graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) return child_from(params.graph.graph, out);
    if (!from || from->embedded) return CUDA_ERROR_INVALID_VALUE;
    out = child_work{from};
    return CUDA_SUCCESS;
}

}  // namespace

CUresult kernel_from(CUDA_KERNEL_NODE_PARAMS const* params, work& out) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    bool const known = params->func ? functions().find(params->func) || kernels().find((CUkernel)params->func)
                                    : kernels().find(params->kern) != nullptr;
    bool const shaped = params->gridDimX && params->gridDimY && params->gridDimZ && params->blockDimX &&
                        params->blockDimY && params->blockDimZ;
    if (!known || !shaped) return CUDA_ERROR_INVALID_VALUE;
    out = kernel_work{*params};
    return CUDA_SUCCESS;
}

CUresult kernel_from(CUDA_KERNEL_NODE_PARAMS_v1 const* params, work& out) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    auto const& p = *params;
    CUDA_KERNEL_NODE_PARAMS const kernel{p.func,         p.gridDimX,  p.gridDimY,  p.gridDimZ,
                                         p.blockDimX,    p.blockDimY, p.blockDimZ, p.sharedMemBytes,
                                         p.kernelParams, p.extra,     nullptr,     nullptr};
    return kernel_from(&kernel, out);
}

CUresult copy_from(CUDA_MEMCPY3D const* params, CUcontext ctx, work& out) {
    if (!params || !known_context(ctx)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(check(*params));
    out = copy_work{*params, ctx};
    return CUDA_SUCCESS;
}

CUresult set_from(CUDA_MEMSET_NODE_PARAMS const* params, CUcontext ctx, work& out) {
    if (!params || !known_context(ctx)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(check(*params));
    out = set_work{*params, ctx};
    return CUDA_SUCCESS;
}

CUresult host_from(CUDA_HOST_NODE_PARAMS const* params, work& out) {
    if (!params || !params->fn) return CUDA_ERROR_INVALID_VALUE;
    out = host_work{params->fn, params->userData};
    return CUDA_SUCCESS;
}

CUresult child_from(CUgraph child, work& out) {
    auto const from = graphs().find(child);
    if (!from) return CUDA_ERROR_INVALID_VALUE;
    out = child_work{clone(*from, copy_for::program)};
    return CUDA_SUCCESS;
}

CUresult record_from(CUevent handle, work& out) {
    auto const what = driver().events.find(handle);
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    out = record_work{what};
    return CUDA_SUCCESS;
}

CUresult wait_from(CUevent handle, work& out) {
    auto const what = driver().events.find(handle);
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    out = wait_work{what};
    return CUDA_SUCCESS;
}

CUresult alloc_from(CUDA_MEM_ALLOC_NODE_PARAMS* params, work& out) {
    if (!params || !params->bytesize || params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    device* const owner = find_device(params->poolProps.location.id);
    if (!owner || params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    auto const memory = make_graph_memory(*owner, params->bytesize);
    if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
    params->dptr = memory->base;
    out = alloc_work{*params, memory};
    return CUDA_SUCCESS;
}

CUresult free_from(graph const& into, CUdeviceptr address, work& out) {
    auto const memory = find_graph_memory(address);
    if (!memory || !take_free(into, *memory)) return CUDA_ERROR_INVALID_VALUE;
    out = free_work{address, memory};
    return CUDA_SUCCESS;
}

CUresult batch_from(CUDA_BATCH_MEM_OP_NODE_PARAMS const* params, work& out) {
    if (!params || !params->paramArray || !params->count || !known_context(params->ctx))
        return CUDA_ERROR_INVALID_VALUE;
    out = batch_work{params->ctx, {params->paramArray, params->paramArray + params->count}, params->flags};
    return CUDA_SUCCESS;
}

CUresult conditional_from(graph& into, CUDA_CONDITIONAL_NODE_PARAMS const& params, work& out) {
    auto const value = into.conditionals.find(params.handle);
    bool const taken = value != into.conditionals.end() && value->second->used;
    bool const sized = params.size == 1 || params.type == CU_GRAPH_COND_TYPE_SWITCH ||
                       (params.type == CU_GRAPH_COND_TYPE_IF && params.size == 2);
    if (value == into.conditionals.end() || taken || !params.size || !sized) return CUDA_ERROR_INVALID_VALUE;
    conditional_work what;
    what.params = params;
    what.value = value->second;
    what.value->used = true;
    for (unsigned index = 0; index < params.size; ++index) what.bodies.push_back(make_graph());
    out = what;
    return CUDA_SUCCESS;
}

CUresult signal_from(CUexternalSemaphore const* handles, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS const* params,
                     unsigned count, work& out) {
    return semaphores_from<signal_work>(handles, params, count, out);
}

CUresult await_from(CUexternalSemaphore const* handles, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS const* params,
                    unsigned count, work& out) {
    return semaphores_from<await_work>(handles, params, count, out);
}

CUresult work_from(graph& into, CUgraphNodeParams* params, work& out) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    switch (params->type) {
        case CU_GRAPH_NODE_TYPE_EMPTY:
            out = empty_work{};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return kernel_in(*params, out);
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return copy_from(&params->memcpy.copyParams, params->memcpy.copyCtx, out);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return set_in(*params, out);
        case CU_GRAPH_NODE_TYPE_HOST:
            return host_in(*params, out);
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return child_in(*params, out);
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return record_from(params->eventRecord.event, out);
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return wait_from(params->eventWait.event, out);
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return alloc_in_place(*params, out);
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return free_from(into, params->free.dptr, out);
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return batch_in(*params, out);
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
            return signal_from(params->extSemSignal.extSemArray, params->extSemSignal.paramsArray,
                               params->extSemSignal.numExtSems, out);
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
            return await_from(params->extSemWait.extSemArray, params->extSemWait.paramsArray,
                              params->extSemWait.numExtSems, out);
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return conditional_from(into, params->conditional, out);
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

}  // namespace lastref::simdriver
