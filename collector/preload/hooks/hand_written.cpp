#include "collector/preload/hooks/hand_written.h"

namespace lastref::preload::hooks {
namespace {

// A record that stands for something a call made besides its own object.
template <abi id>
void record_detail(std::uint64_t object, std::uint64_t other, std::uint64_t size, std::uint64_t extra) {
    constexpr call_traits traits{id, event_order::end, stack_setting::all, stamp_count::two};
    recorded_call call = recorded_call::enter<traits>();
    if (!call.recording()) return;
    call.leave<traits>(0, nullptr, nullptr, [&](spool::call_record& record) {
        record.object = object;
        record.other = other;
        record.size = size;
        record.extra = extra;
    });
}

std::uint64_t number(void const* handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

}  // namespace

void record_node_details(CUgraphNode node, CUgraph graph, CUgraphNodeParams const& params) {
    switch (params.type) {
        case CU_GRAPH_NODE_TYPE_GRAPH:
            record_detail<abi::graph_node_child>(number(node), number(graph), 0, number(params.graph.graph));
            break;
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            record_detail<abi::graph_node_memory_alloc>(number(node), number(graph), params.alloc.bytesize,
                                                        params.alloc.dptr);
            break;
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            record_detail<abi::graph_node_memory_free>(number(node), number(graph), 0, params.free.dptr);
            break;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            for (unsigned i = 0; params.conditional.phGraph_out != nullptr && i < params.conditional.size; ++i)
                record_detail<abi::graph_body>(number(params.conditional.phGraph_out[i]), number(graph), i,
                                               number(node));
            break;
        default:
            break;
    }
}

namespace hand {

bool may_be_capturing(CUstream stream, bool per_thread) {
    using function = CUresult (*)(CUstream, CUstreamCaptureStatus*);
    auto const ask =
        driver::entry_point<function>(per_thread ? abi::cuStreamIsCapturing_ptsz : abi::cuStreamIsCapturing);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (ask == nullptr || ask(stream, &status) != CUDA_SUCCESS) return true;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace hand
}  // namespace lastref::preload::hooks
