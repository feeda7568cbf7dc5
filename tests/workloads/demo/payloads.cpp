// Payloads: what graphs hold, and what their destructors leave to others.
#include "deferred_queue.h"
#include "demo.h"
#include "tests/workloads/common/facts.h"

namespace lastref::demo {
namespace {

using workload::fact;

constexpr std::size_t buffer_bytes = 1 << 20;

struct payload {
    CUdeviceptr buffer = 0;
    deferred_queue* cleanup = nullptr;
    std::atomic<int>* destroyed = nullptr;
};

// Runs inside the driver: it must not call the driver, so it only notes the buffer.
void destroy_payload(void* data) {
    auto* const gone = static_cast<payload*>(data);
    if (gone->cleanup) gone->cleanup->enqueue(gone->buffer);
    ++*gone->destroyed;
    delete gone;
}

LASTREF_DEMO_STEP void add_memset(CUgraph graph, CUdeviceptr to) {
    CUgraphNode node = nullptr;
    CUcontext context = nullptr;
    CUDA_MEMSET_NODE_PARAMS set{};
    set.dst = to;
    set.elementSize = 4;
    set.width = buffer_bytes / 4;
    set.height = 1;
    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, context));
}

// An executable graph that works on the payload's buffer and holds the only reference on the payload.
LASTREF_DEMO_STEP CUgraphExec instantiate_with_payload(payload* held) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUuserObject object = nullptr;
    MUST(cuGraphCreate(&graph, 0));
    add_memset(graph, held->buffer);
    MUST(cuUserObjectCreate(&object, held, destroy_payload, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

LASTREF_DEMO_STEP void launch_and_wait(CUgraphExec exec) {
    CUstream stream = nullptr;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
}

std::atomic<int> held_for_ever{0}, released{0}, undrained{0}, drained{0};
deferred_queue abandoned_queue, working_queue;

LASTREF_DEMO_STEP void run_once(deferred_queue& cleanup, std::atomic<int>& destroyed) {
    auto* const held = new payload{0, &cleanup, &destroyed};
    MUST(cuMemAlloc(&held->buffer, buffer_bytes));
    CUgraphExec const exec = instantiate_with_payload(held);
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
    workload::becomes(destroyed, 1);
}

CUdeviceptr shared_buffer = 0;

}  // namespace

LASTREF_DEMO_STEP void fault_payload_held_by_executable_graph() {
    MUST(cuMemAlloc(&shared_buffer, buffer_bytes));
    CUgraphExec const exec = instantiate_with_payload(new payload{shared_buffer, nullptr, &held_for_ever});
    launch_and_wait(exec);
    workload::give_it_time();
    fact("payload held by executable graph: destructor runs", held_for_ever, 0);
    MUST(cuMemFree(shared_buffer));
}

LASTREF_DEMO_STEP void healthy_payload_of_destroyed_executable_graph() {
    CUdeviceptr buffer = 0;
    MUST(cuMemAlloc(&buffer, buffer_bytes));
    CUgraphExec const exec = instantiate_with_payload(new payload{buffer, nullptr, &released});
    launch_and_wait(exec);
    MUST(cuGraphExecDestroy(exec));
    workload::becomes(released, 1);
    fact("payload of destroyed executable graph: destructor runs", released, 1);
    MUST(cuMemFree(buffer));
}

LASTREF_DEMO_STEP void fault_cleanup_never_drained() {
    run_once(abandoned_queue, undrained);
    fact("clean-up never drained: buffers waiting", static_cast<long long>(abandoned_queue.size()), 1);
}

LASTREF_DEMO_STEP void healthy_cleanup_drained() {
    run_once(working_queue, drained);
    fact("clean-up drained: buffers freed", static_cast<long long>(working_queue.drain()), 1);
}

}  // namespace lastref::demo
