// Entry points whose wrapper must change an argument or a result; lines of style HAND in driver_api.def. Each calls the
// real function once and returns its result; recording is the wrapper's.
//
// `streams` says what stream 0 means in the variant that was called. Read-back variants restore the program's
// callbacks, so that wrapping stays invisible.
#pragma once

#include "collector/preload/driver/cuda_abi.h"
#include "collector/preload/driver/driver.h"
#include "collector/preload/hooks/callbacks.h"
#include "collector/preload/hooks/wrappers.h"
#include "collector/preload/record/call.h"

namespace lastref::preload::hooks {

// What a generic add made besides the node, as records of their own: the child graph, the allocation, the body graphs.
void record_node_details(CUgraphNode node, CUgraph graph, CUgraphNodeParams const& params);

// What a batch consists of, a record each. `id` is the entry point, which says what stream 0 means.
void record_copies(abi id, CUstream stream, CUdeviceptr const* to, CUdeviceptr const* from, size_t const* bytes,
                   size_t count);
void record_copies(abi id, CUstream stream, CUDA_MEMCPY3D_BATCH_OP const* copies, size_t count);
void record_copies(abi id, CUstream stream, CUmemDecompressParams const* copies, size_t count);
void record_prefetches(abi id, CUstream stream, CUdeviceptr const* ranges, size_t const* bytes, size_t count);

namespace hand {

template <default_stream streams, class Real>
CUresult cuInit(Real real, unsigned int flags) {
    process::driver_initializing();
    CUresult const result = real(flags);
    if (result == CUDA_SUCCESS) process::driver_initialized(driver::version());
    return result;
}

template <default_stream streams, class Real>
CUresult cuUserObjectCreate(Real real, CUuserObject* object, void* payload, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
    callbacks::pair* const pair = destroy != nullptr && rings::acquire() != nullptr
                                      ? callbacks::make_once(reinterpret_cast<void*>(destroy), payload)
                                      : nullptr;
    if (pair == nullptr) return real(object, payload, destroy, count, flags);
    stacks::note_module(ring, reinterpret_cast<void const*>(destroy));
    cpython::watch_destructor(reinterpret_cast<void const*>(destroy));
    CUresult const result = real(object, pair, callbacks::user_object_destroyed, count, flags);
    // Nobody else knows the handle yet, so the destructor cannot run before the pair knows it too.
    if (result == CUDA_SUCCESS)
        pair->object = reinterpret_cast<std::uint64_t>(*object);
    else
        callbacks::give_back(pair);
    return result;
}

// Does the call put the function into a graph that is being captured? Where that cannot be told, it is taken for so:
// such pairs are kept, which is always safe. cuStreamIsCapturing is legal during any capture.
bool may_be_capturing(CUstream stream, bool per_thread);

template <default_stream streams, class Real>
CUresult cuLaunchHostFunc(Real real, CUstream stream, CUhostFn function, void* data) {
    if (function == nullptr || rings::acquire() == nullptr) return real(stream, function, data);
    bool const keep = may_be_capturing(stream, streams == default_stream::per_thread);
    auto* const code = reinterpret_cast<void*>(function);
    callbacks::pair* const pair = keep ? callbacks::intern(code, data) : callbacks::make_once(code, data);
    if (pair == nullptr) return real(stream, function, data);
    stacks::note_module(ring, code);
    CUresult const result =
        real(stream, keep ? callbacks::host_function_in_graph : callbacks::host_function_once, pair);
    if (result != CUDA_SUCCESS && !keep) callbacks::give_back(pair);
    return result;
}

template <default_stream streams, class Real>
CUresult cuStreamAddCallback(Real real, CUstream stream, CUstreamCallback function, void* data, unsigned int flags) {
    callbacks::pair* const pair = function != nullptr && rings::acquire() != nullptr
                                      ? callbacks::make_once(reinterpret_cast<void*>(function), data)
                                      : nullptr;
    if (pair == nullptr) return real(stream, function, data, flags);
    stacks::note_module(ring, reinterpret_cast<void const*>(function));
    CUresult const result = real(stream, callbacks::stream_callback, pair, flags);
    if (result != CUDA_SUCCESS) callbacks::give_back(pair);
    return result;
}

// The program's host node parameters with the function wrapped, for as long as the call takes.
template <class Params>
Params wrapped(Params const& given) {
    Params params = given;
    if (params.fn == nullptr || rings::acquire() == nullptr) return params;
    // What the program read back is already unwrapped; wrapping it again gives the same pair.
    if (auto* const pair = callbacks::intern(reinterpret_cast<void*>(params.fn), params.userData)) {
        stacks::note_module(ring, reinterpret_cast<void const*>(params.fn));
        params.fn = callbacks::host_function_in_graph;
        params.userData = pair;
    }
    return params;
}

template <default_stream streams, class Real>
CUresult cuGraphAddHostNode(Real real, CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, size_t count,
                            CUDA_HOST_NODE_PARAMS const* params) {
    if (params == nullptr) return real(node, graph, dependencies, count, params);
    auto const ours = wrapped(*params);
    return real(node, graph, dependencies, count, &ours);
}

template <default_stream streams, class Real>
CUresult cuGraphHostNodeGetParams(Real real, CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
    CUresult const result = real(node, params);
    if (result == CUDA_SUCCESS && params != nullptr) callbacks::unwrap(params->fn, params->userData);
    return result;
}

template <default_stream streams, class Real>
CUresult cuGraphHostNodeSetParams(Real real, CUgraphNode node, CUDA_HOST_NODE_PARAMS const* params) {
    if (params == nullptr) return real(node, params);
    auto const ours = wrapped(*params);
    return real(node, &ours);
}

template <default_stream streams, class Real>
CUresult cuGraphExecHostNodeSetParams(Real real, CUgraphExec exec, CUgraphNode node,
                                      CUDA_HOST_NODE_PARAMS const* params) {
    if (params == nullptr) return real(exec, node, params);
    auto const ours = wrapped(*params);
    return real(exec, node, &ours);
}

// The generic forms: only host nodes carry callbacks, and for those the driver returns nothing in the parameters.
template <class Call>
CUresult with_wrapped_host(CUgraphNodeParams* params, Call&& call) {
    if (params == nullptr || params->type != CU_GRAPH_NODE_TYPE_HOST) return call(params);
    CUgraphNodeParams ours = *params;
    ours.host = wrapped(params->host);
    return call(&ours);
}

template <default_stream streams, class Real>
CUresult cuGraphAddNode(Real real, CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, size_t count,
                        CUgraphNodeParams* params) {
    return with_wrapped_host(params, [&](CUgraphNodeParams* p) { return real(node, graph, dependencies, count, p); });
}
template <default_stream streams, class Real>
CUresult cuGraphAddNode(Real real, CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies,
                        CUgraphEdgeData const* edges, size_t count, CUgraphNodeParams* params) {
    return with_wrapped_host(params,
                             [&](CUgraphNodeParams* p) { return real(node, graph, dependencies, edges, count, p); });
}
template <default_stream streams, class Real>
CUresult cuGraphNodeSetParams(Real real, CUgraphNode node, CUgraphNodeParams* params) {
    return with_wrapped_host(params, [&](CUgraphNodeParams* p) { return real(node, p); });
}
template <default_stream streams, class Real>
CUresult cuGraphExecNodeSetParams(Real real, CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
    return with_wrapped_host(params, [&](CUgraphNodeParams* p) { return real(exec, node, p); });
}

}  // namespace hand
}  // namespace lastref::preload::hooks
