// Devices, contexts, streams and events. Guarded by the driver's lock, like everything here.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/core/scheduler.h"

namespace lastref::simdriver {

struct context;
struct stream;
struct event;
struct capture;
struct pool;
struct node;
class shared_event;
using context_ptr = std::shared_ptr<context>;
using stream_ptr = std::shared_ptr<stream>;
using event_ptr = std::shared_ptr<event>;
using capture_ptr = std::shared_ptr<capture>;
using pool_ptr = std::shared_ptr<pool>;
using node_ptr = std::shared_ptr<node>;

struct device {
    int ordinal = 0;
    context_ptr primary;  // made once; its handle stays the same over release and retain
    unsigned primary_references = 0;
    unsigned primary_flags = CU_CTX_MAP_HOST;
    CUresult fault = CUDA_SUCCESS;  // of its primary context, which stays unusable for the rest of the process
    pool_ptr default_pool, current_pool;
    std::uint64_t used_bytes = 0;  // of memory_bytes: device allocations, pools' reservations, graph memory
    // Graph memory of the device: live bytes, and what is counted in chunks as used and reserved until
    // cuDeviceGraphMemTrim.
    std::uint64_t graph_live = 0;
    std::uint64_t graph_used = 0, graph_used_high = 0, graph_reserved = 0, graph_reserved_high = 0;
    std::multimap<std::uint64_t, std::uintptr_t> unused;
};

struct context : std::enable_shared_from_this<context> {
    CUcontext handle = nullptr;
    device* owner = nullptr;
    std::uint64_t id = 0;
    unsigned flags = 0;
    bool primary = false;
    bool alive = true;
    std::shared_ptr<std::atomic<CUresult>> fault = std::make_shared<std::atomic<CUresult>>(CUDA_SUCCESS);
    unsigned attached = 1;  // by cuCtxCreate and cuCtxAttach
    std::map<CUlimit, std::size_t> limits;
    stream_ptr legacy;
    std::map<std::uint64_t, stream_ptr> per_thread;  // by thread_state::id
    std::vector<stream_ptr> streams;                 // created and not destroyed
    // Unfinished work of streams that are gone: of blocking ones, for which the legacy stream waits, and of the others,
    // for which only the whole context does.
    std::vector<operation_ptr> left_behind, left_apart;
    std::set<int> peers;
    CUgreenCtx green = nullptr;  // the green context that it was made from
};

struct stream {
    CUstream handle = nullptr;  // null for the default streams
    std::uint64_t id = 0;       // unique for the life of the program
    std::weak_ptr<context> owner;
    unsigned flags = CU_STREAM_DEFAULT;
    int priority = 0;
    enum class role { created, legacy, per_thread } kind = role::created;
    operation_ptr last;  // the newest work
    // While a capture runs on it: the capture and the nodes that the next one depends on.
    capture_ptr capturing;
    std::vector<node_ptr> frontier;
    std::vector<CUgraphEdgeData> frontier_edges;
    // Handed out by cuStreamGetCaptureInfo: valid until the next call on the stream.
    std::vector<CUgraphNode> frontier_handles;
    CUgreenCtx green = nullptr;
    std::map<CUstreamAttrID, CUstreamAttrValue> attributes;

    bool blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
};

struct event {
    CUevent handle = nullptr;
    context_ptr owner;
    std::uint64_t owner_life = 0;  // the owner's id: a primary context lives more than once
    unsigned flags = 0;
    operation_ptr recorded;  // null before the first record
    std::weak_ptr<stream> recorded_on;
    // Recorded in a capture: usable only by waits of the same capture.
    std::weak_ptr<capture> captured_in;
    std::vector<node_ptr> captured_after;
    bool captured = false;
    std::shared_ptr<shared_event> shared;  // CU_EVENT_INTERPROCESS
};

}  // namespace lastref::simdriver
