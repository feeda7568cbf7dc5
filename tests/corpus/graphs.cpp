// Graphs and what they hold: user-object-leak, user-object-over-release, stale-graph-reference, graph-allocation-leak,
// graph-exec-growth, capture-interference.
#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

using workload::fact;

std::atomic<int> destroyed{0};
payload held{0, &destroyed};

CUgraph graph_with_payload() {
    auto const graph = empty_graph();
    move_into(graph, user_object(&held));
    return graph;
}

void launch_and_wait(CUgraphExec exec) {
    stream const on;
    MUST(cuGraphLaunch(exec, on));
    on.synchronize();
}

}  // namespace

FAULT(user_object_leak, executable_graph_never_destroyed) {
    launch_and_wait(instantiated(graph_with_payload()));
}

FAULT(user_object_leak, reference_added_instead_of_moved) {
    auto const graph = empty_graph();
    MUST(cuGraphRetainUserObject(graph, user_object(&held), 1, 0));
    MUST(cuGraphDestroy(graph));
}

FAULT(user_object_leak, clone_never_destroyed) {
    auto const graph = graph_with_payload();
    CUgraph clone = nullptr;
    MUST(cuGraphClone(&clone, graph));
    MUST(cuGraphDestroy(graph));
}

HEALTHY(user_object_leak, executable_graph_destroyed_while_it_runs) {
    stream const on;
    auto const exec = instantiated(graph_with_payload());
    MUST(cuGraphLaunch(exec, on));
    MUST(cuGraphExecDestroy(exec));
    on.synchronize();
    workload::becomes(destroyed, 1);
}

HEALTHY(user_object_leak, references_in_a_child_and_its_clones) {
    auto const child = graph_with_payload();
    auto const outer = empty_graph();
    CUgraphNode node = nullptr;
    CUgraph clone = nullptr;
    MUST(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, child));
    MUST(cuGraphDestroy(child));
    MUST(cuGraphClone(&clone, outer));
    auto const exec = instantiated(outer);
    MUST(cuGraphDestroy(clone));
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
    workload::becomes(destroyed, 1);
}

HEALTHY(user_object_leak, replaced_by_an_update) {
    auto const exec = instantiated(graph_with_payload());
    auto const next = empty_graph();
    CUgraphExecUpdateResultInfo info{};
    MUST(cuGraphExecUpdate(exec, next, &info));
    MUST(cuGraphDestroy(next));
    workload::becomes(destroyed, 1);
    MUST(cuGraphExecDestroy(exec));
}

FAULT(user_object_over_release, released_more_than_held) {
    MUST(cuUserObjectRelease(user_object(&held), 2));
    workload::give_it_time();
}

FAULT(user_object_over_release, both_owners_release_all) {
    auto const object = user_object(&held, 2);
    MUST(cuUserObjectRetain(object, 1));
    auto const drop = [&](unsigned count) { MUST(cuUserObjectRelease(object, count)); };
    drop(2);
    on_thread([&] { drop(2); });
    workload::give_it_time();
}

HEALTHY(user_object_over_release, moved_and_not_released) {
    auto const graph = graph_with_payload();
    MUST(cuGraphDestroy(graph));
    workload::becomes(destroyed, 1);
}

HEALTHY(user_object_over_release, each_owner_releases_its_own) {
    auto const object = user_object(&held, 2);
    MUST(cuUserObjectRetain(object, 1));
    MUST(cuUserObjectRelease(object, 2));
    on_thread([&] { MUST(cuUserObjectRelease(object, 1)); });
    workload::becomes(destroyed, 1);
}

namespace {

// A memset of the buffer as a graph, captured.
CUgraphExec captured_memset(CUdeviceptr buffer, CUstream on) {
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 2, bytes, on));
    MUST(cuStreamEndCapture(on, &graph));
    return instantiated(graph);
}

// What is freed stays mapped in the pool, so that a stale address does no harm here.
void keep_freed_memory_mapped() {
    CUdevice device = 0;
    CUmemoryPool pool = nullptr;
    cuuint64_t threshold = ~cuuint64_t{0};
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDeviceGetDefaultMemPool(&pool, device));
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
}

void nothing(void*) {}

CUgraph graph_with_host_node(payload* of, CUgraphNode* node) {
    auto const graph = empty_graph();
    CUDA_HOST_NODE_PARAMS params{};
    params.fn = nothing;
    params.userData = of;
    MUST(cuGraphAddHostNode(node, graph, nullptr, 0, &params));
    move_into(graph, user_object(of));
    return graph;
}

}  // namespace

FAULT(stale_graph_reference, captured_buffer_freed_before_a_replay) {
    keep_freed_memory_mapped();
    stream const on;
    auto const buffer = used_buffer(on);
    auto const exec = captured_memset(buffer, on);
    MUST(cuGraphLaunch(exec, on));
    MUST(cuMemFreeAsync(buffer, on));
    on.synchronize();
    MUST(cuGraphLaunch(exec, on));
    on.synchronize();
    MUST(cuGraphExecDestroy(exec));
}

FAULT(stale_graph_reference, payload_set_without_a_reference) {
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    auto const graph = graph_with_host_node(&held, &node);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    static std::atomic<int> gone{0};
    static payload second{0, &gone};
    auto const object = user_object(&second);
    CUDA_HOST_NODE_PARAMS params{};
    params.fn = nothing;
    params.userData = &second;
    MUST(cuGraphExecHostNodeSetParams(exec, node, &params));
    MUST(cuUserObjectRelease(object, 1));
    workload::becomes(gone, 1);
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    workload::becomes(destroyed, 1);
}

HEALTHY(stale_graph_reference, freed_after_the_last_replay) {
    stream const on;
    auto const buffer = used_buffer(on);
    auto const exec = captured_memset(buffer, on);
    for (int i = 0; i < 3; ++i) MUST(cuGraphLaunch(exec, on));
    MUST(cuMemFreeAsync(buffer, on));
    on.synchronize();
    MUST(cuGraphExecDestroy(exec));
}

HEALTHY(stale_graph_reference, captured_again_for_the_new_buffer) {
    stream const on;
    for (int i = 0; i < 2; ++i) {
        auto const buffer = used_buffer(on);
        auto const exec = captured_memset(buffer, on);
        MUST(cuGraphLaunch(exec, on));
        MUST(cuMemFreeAsync(buffer, on));
        on.synchronize();
        MUST(cuGraphExecDestroy(exec));
    }
}

HEALTHY(stale_graph_reference, payload_that_the_graph_holds) {
    CUgraphNode node = nullptr;
    auto const exec = instantiated(graph_with_host_node(&held, &node));
    launch_and_wait(exec);
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
    workload::becomes(destroyed, 1);
}

namespace {

CUDA_MEM_ALLOC_NODE_PARAMS add_allocation(CUgraph graph, CUgraphNode* node) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = bytes;
    MUST(cuGraphAddMemAllocNode(node, graph, nullptr, 0, &params));
    return params;
}

}  // namespace

FAULT(graph_allocation_leak, no_free_node) {
    for (int i = 0; i < 3; ++i) {
        auto const graph = empty_graph();
        CUgraphNode node = nullptr;
        add_allocation(graph, &node);
        auto const exec = instantiated(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        launch_and_wait(exec);
        MUST(cuGraphExecDestroy(exec));
    }
}

FAULT(graph_allocation_leak, captured_allocation) {
    stream const on;
    CUgraph graph = nullptr;
    CUdeviceptr buffer = 0;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemAllocAsync(&buffer, bytes, on));
    MUST(cuMemsetD8Async(buffer, 1, bytes, on));
    MUST(cuStreamEndCapture(on, &graph));
    auto const exec = instantiated(graph);
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
}

HEALTHY(graph_allocation_leak, free_node) {
    auto const graph = empty_graph();
    CUgraphNode node = nullptr, last = nullptr;
    auto const made = add_allocation(graph, &node);
    MUST(cuGraphAddMemFreeNode(&last, graph, &node, 1, made.dptr));
    auto const exec = instantiated(graph);
    for (int i = 0; i < 3; ++i) launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
}

HEALTHY(graph_allocation_leak, freed_after_the_launch) {
    stream const on;
    auto const graph = empty_graph();
    CUgraphNode node = nullptr;
    auto const made = add_allocation(graph, &node);
    auto const exec = instantiated(graph);
    for (int i = 0; i < 2; ++i) {
        MUST(cuGraphLaunch(exec, on));
        MUST(cuMemFreeAsync(made.dptr, on));
    }
    on.synchronize();
    MUST(cuGraphExecDestroy(exec));
}

FAULT(graph_exec_growth, one_for_each_key) {
    for_a_while([](int) { instantiated(empty_graph()); });
}

FAULT(graph_exec_growth, cache_that_forgets) {
    CUgraphExec latest = nullptr;
    for_a_while([&](int i) {
        auto const next = instantiated(empty_graph());
        if (i % 4 == 3) MUST(cuGraphExecDestroy(latest));  // the others are overwritten
        latest = next;
    });
}

HEALTHY(graph_exec_growth, bounded_cache) {
    std::vector<CUgraphExec> cache;
    for_a_while([&](int) {
        if (cache.size() == 4) {
            MUST(cuGraphExecDestroy(cache.front()));
            cache.erase(cache.begin());
        }
        cache.push_back(instantiated(empty_graph()));
    });
    for (auto const exec : cache) MUST(cuGraphExecDestroy(exec));
}

HEALTHY(graph_exec_growth, updated_in_place) {
    auto const exec = instantiated(empty_graph());
    for_a_while([&](int) {
        auto const next = empty_graph();
        CUgraphExecUpdateResultInfo info{};
        MUST(cuGraphExecUpdate(exec, next, &info));
        MUST(cuGraphDestroy(next));
    });
    MUST(cuGraphExecDestroy(exec));
}

FAULT(capture_interference, allocation_on_another_thread) {
    stream const on;
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
    on_thread([] {
        CUdeviceptr buffer = 0;
        fact("allocation", cuMemAlloc(&buffer, bytes), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    });
    fact("capture ends", cuStreamEndCapture(on, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

FAULT(capture_interference, own_thread_allocates) {
    stream const on;
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CUdeviceptr buffer = 0;
    fact("allocation", cuMemAlloc(&buffer, bytes), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fact("capture ends", cuStreamEndCapture(on, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

HEALTHY(capture_interference, thread_local_capture_beside_an_allocation) {
    stream const on;
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    on_thread([] {
        CUdeviceptr buffer = 0;
        MUST(cuMemAlloc(&buffer, bytes));
        MUST(cuMemFree(buffer));
    });
    MUST(cuStreamEndCapture(on, &graph));
    MUST(cuGraphDestroy(graph));
}

HEALTHY(capture_interference, thread_in_relaxed_mode) {
    stream const on;
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
    on_thread([] {
        CUdeviceptr buffer = 0;
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        MUST(cuThreadExchangeStreamCaptureMode(&mode));
        MUST(cuMemAlloc(&buffer, bytes));
        MUST(cuMemFree(buffer));
        MUST(cuThreadExchangeStreamCaptureMode(&mode));
    });
    MUST(cuStreamEndCapture(on, &graph));
    MUST(cuGraphDestroy(graph));
}

}  // namespace lastref::corpus
