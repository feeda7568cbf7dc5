// Stream capture.
#include <algorithm>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

bool known(CUstreamCaptureMode mode) {
    return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUstreamCaptureStatus status_of(stream const& on) {
    if (!on.capturing) return CU_STREAM_CAPTURE_STATUS_NONE;
    return on.capturing->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void list_frontier(stream& on) {
    on.frontier_handles.clear();
    for (auto const& each : on.frontier) on.frontier_handles.push_back(each->handle);
    on.frontier_edges.resize(on.frontier.size());
}

struct capture_answer {
    CUstreamCaptureStatus* status;
    cuuint64_t* id;
    CUgraph* into;
    CUgraphNode const** after;
    CUgraphEdgeData const** edges;
    std::size_t* count;
};

CUresult answer(call const& c, CUstream token, capture_answer const& out) {
    stream_ptr on;
    if (!out.status) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    if (!on->capturing) SIM_TRY(implicit_dependency(*on, false));
    *out.status = status_of(*on);
    if (*out.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    list_frontier(*on);
    put(out.id, on->capturing->id);
    if (out.into) *out.into = on->capturing->into->handle;
    if (out.after) *out.after = on->frontier_handles.data();
    if (out.edges) *out.edges = on->frontier_edges.data();
    put(out.count, on->frontier.size());
    return CUDA_SUCCESS;
}

CUresult nodes_from(capture const& in, CUgraphNode const* handles, std::size_t count, std::vector<node_ptr>& out) {
    if (count && !handles) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < count; ++index) {
        auto const each = nodes().find(handles[index]);
        if (!each || each->of != in.into.get()) return CUDA_ERROR_INVALID_VALUE;
        out.push_back(each);
    }
    return CUDA_SUCCESS;
}

CUresult update(call const& c, CUstream token, CUgraphNode const* handles, CUgraphEdgeData const* data,
                std::size_t count, unsigned flags) {
    stream_ptr on;
    std::vector<node_ptr> wanted;
    SIM_TRY(resolve(c, token, on));
    if (!on->capturing) return CUDA_ERROR_ILLEGAL_STATE;
    SIM_TRY(nodes_from(*on->capturing, handles, count, wanted));
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        on->frontier.clear();
        on->frontier_edges.clear();
    }
    on->frontier_edges.resize(on->frontier.size());
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        on->frontier.push_back(wanted[index]);
        on->frontier_edges.push_back(data ? data[index] : CUgraphEdgeData{});
    }
    return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuStreamBeginCapture(call const& c, CUstream token, CUstreamCaptureMode mode) {
    stream_ptr on;
    if (!known(mode)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    return begin_capture(c, on, mode, nullptr, {});
}

CUresult cuStreamBeginCapture(call const& c, CUstream token) {
    return cuStreamBeginCapture(c, token, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(call const& c, CUstream token, CUgraph handle, CUgraphNode const* after,
                                     CUgraphEdgeData const* data, std::size_t count, CUstreamCaptureMode mode) {
    stream_ptr on;
    std::vector<edge> edges;
    auto const into = graphs().find(handle);
    if (!into || !known(mode) || (count && !after)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    for (std::size_t index = 0; index < count; ++index) {
        auto const each = nodes().find(after[index]);
        if (!each || each->of != into.get()) return CUDA_ERROR_INVALID_VALUE;
        edges.push_back({each.get(), data ? data[index] : CUgraphEdgeData{}});
    }
    return begin_capture(c, on, mode, into, edges);
}

CUresult cuStreamEndCapture(call const& c, CUstream token, CUgraph* out) {
    stream_ptr on;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(resolve(c, token, on));
    return end_capture(c, *on, *out);
}

CUresult cuStreamIsCapturing(call const& c, CUstream token, CUstreamCaptureStatus* status) {
    return answer(c, token, {status, nullptr, nullptr, nullptr, nullptr, nullptr});
}

CUresult cuStreamGetCaptureInfo(call const& c, CUstream token, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return answer(c, token, {status, id, nullptr, nullptr, nullptr, nullptr});
}

CUresult cuStreamGetCaptureInfo(call const& c, CUstream token, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* into, CUgraphNode const** after, std::size_t* count) {
    return answer(c, token, {status, id, into, after, nullptr, count});
}

CUresult cuStreamGetCaptureInfo(call const& c, CUstream token, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* into, CUgraphNode const** after, CUgraphEdgeData const** edges,
                                std::size_t* count) {
    return answer(c, token, {status, id, into, after, edges, count});
}

CUresult cuStreamUpdateCaptureDependencies(call const& c, CUstream token, CUgraphNode* nodes_after, std::size_t count,
                                           unsigned int flags) {
    return update(c, token, nodes_after, nullptr, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies(call const& c, CUstream token, CUgraphNode* nodes_after,
                                           CUgraphEdgeData const* data, std::size_t count, unsigned int flags) {
    return update(c, token, nodes_after, data, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(call const& c, CUstreamCaptureMode* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;  // any mode is taken, measured
    std::swap(*mode, c.self.capture_mode);
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
