#include "collector/preload/hooks/hand_written.h"

namespace lastref::preload::hooks {
namespace {

// No setting of stacks reaches it.
constexpr auto never = static_cast<stack_setting>(0xff);

// A record that stands for something a call made besides its own object. The call's own record has the stack, and its
// time: there may be thousands of these.
template <abi id>
void record_detail(std::uint64_t object, std::uint64_t other, std::uint64_t size, std::uint64_t extra,
                   std::uint64_t stream = 0) {
    constexpr call_traits traits{id, event_order::end, never, stamp_count::one};
    recorded_call call = recorded_call::enter<traits>();
    if (!call.recording()) return;
    call.leave<traits>(0, nullptr, nullptr, [&](spool::call_record& record) {
        record.stream = stream;
        record.object = object;
        record.other = other;
        record.size = size;
        record.extra = extra;
    });
}

std::uint64_t number(void const* handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

// A detail has no variants that could say what stream 0 means: it names the token.
std::uint64_t named_stream(abi id, CUstream stream) {
    if (stream != nullptr) return number(stream);
    return number(info(id).streams == default_stream::per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY);
}

std::uint64_t place_of(CUmemcpy3DOperand const& operand) {
    return operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? number(operand.op.array.array) : operand.op.ptr.ptr;
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

void record_copies(abi id, CUstream stream, CUdeviceptr const* to, CUdeviceptr const* from, size_t const* bytes,
                   size_t count) {
    for (size_t i = 0; i < count; ++i)
        record_detail<abi::batch_copy>(to[i], from[i], bytes[i], 0, named_stream(id, stream));
}

void record_copies(abi id, CUstream stream, CUDA_MEMCPY3D_BATCH_OP const* copies, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        auto const& [width, height, depth] = copies[i].extent;
        record_detail<abi::batch_copy>(place_of(copies[i].dst), place_of(copies[i].src), width * height * depth, 0,
                                       named_stream(id, stream));
    }
}

void record_copies(abi id, CUstream stream, CUmemDecompressParams const* copies, size_t count) {
    for (size_t i = 0; i < count; ++i)
        record_detail<abi::batch_copy>(number(copies[i].dst), number(copies[i].src), copies[i].dstNumBytes, 0,
                                       named_stream(id, stream));
}

void record_prefetches(abi id, CUstream stream, CUdeviceptr const* ranges, size_t const* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i)
        record_detail<abi::batch_prefetch>(ranges[i], 0, bytes[i], 0, named_stream(id, stream));
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
