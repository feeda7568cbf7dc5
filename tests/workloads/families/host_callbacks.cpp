// Host functions and stream callbacks: launched, captured, replayed, put into graphs by hand, changed, read back. What
// is read back must be what was put in.
#include "tests/workloads/common/facts.h"

namespace {

using namespace lastref::workload;

struct observed {
    std::atomic<int> calls{0};
    std::thread::id thread;
    CUresult inside = CUDA_SUCCESS;
};

void observe(void* data) {
    auto& seen = *static_cast<observed*>(data);
    seen.thread = std::this_thread::get_id();
    seen.inside = cuCtxSynchronize();
    ++seen.calls;
}

void observe_otherwise(void* data) {
    static_cast<observed*>(data)->calls += 100;
}

std::atomic<int> stream_callbacks{0};

void on_stream(CUstream, CUresult status, void* data) {
    if (status == CUDA_SUCCESS && data == &stream_callbacks) ++stream_callbacks;
}

std::thread::id launched(CUstream stream) {
    observed seen;
    MUST(cuLaunchHostFunc(stream, observe, &seen));
    MUST(cuStreamSynchronize(stream));
    fact("launched: calls", seen.calls, 1);
    fact("launched: on another thread", seen.thread != std::this_thread::get_id(), 1);
    fact("launched: driver call inside", seen.inside, CUDA_ERROR_NOT_PERMITTED);
    return seen.thread;
}

void added(CUstream stream) {
    MUST(cuStreamAddCallback(stream, on_stream, &stream_callbacks, 0));
    MUST(cuStreamSynchronize(stream));
    fact("stream callback: calls", stream_callbacks, 1);
}

void reads_back(char const* what, CUgraphNode node, CUhostFn function, void* data) {
    CUDA_HOST_NODE_PARAMS read{};
    MUST(cuGraphHostNodeGetParams(node, &read));
    std::printf("%s: ", what);
    fact("original function and data", read.fn == function && read.userData == data, 1);
}

CUgraphNode only_node(CUgraph graph) {
    CUgraphNode node = nullptr;
    std::size_t count = 1;
    MUST(cuGraphGetNodes(graph, &node, &count));
    fact("nodes", static_cast<long long>(count), 1);
    return node;
}

void captured(CUstream stream) {
    observed seen;
    CUgraph graph = nullptr, clone = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphNode in_clone = nullptr;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuLaunchHostFunc(stream, observe, &seen));
    MUST(cuStreamEndCapture(stream, &graph));
    reads_back("captured", only_node(graph), observe, &seen);
    MUST(cuGraphClone(&clone, graph));
    MUST(cuGraphNodeFindInClone(&in_clone, only_node(graph), clone));
    reads_back("clone", in_clone, observe, &seen);
    MUST(cuGraphInstantiate(&exec, clone, 0));
    for (int round = 0; round < 3; ++round) MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    fact("replayed: calls", seen.calls, 3);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(clone));
    MUST(cuGraphDestroy(graph));
}

void changed(CUstream stream) {
    observed first, second;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphNode node = nullptr;
    CUDA_HOST_NODE_PARAMS params{observe, &first}, other{observe_otherwise, &second};
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
    reads_back("added", node, observe, &first);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphExecHostNodeSetParams(exec, node, &other));
    reads_back("node after change of the executable graph", node, observe, &first);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    fact("changed: calls of the old", first.calls, 0);
    fact("changed: calls of the new", second.calls, 100);
    MUST(cuGraphHostNodeSetParams(node, &other));
    reads_back("changed", node, observe_otherwise, &second);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

void in_any_form(CUstream stream) {
    observed seen;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host = {observe, &seen};
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    fact("caller's parameters untouched", params.host.fn == observe && params.host.userData == &seen, 1);
    reads_back("added as any node", node, observe, &seen);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamSynchronize(stream));
    fact("executable graph destroyed while it runs: calls", seen.calls, 1);
}

}  // namespace

int main() {
    CUstream stream = nullptr;
    use_first_device();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    std::thread::id const once = launched(stream), again = launched(stream);
    fact("the same thread each time", once == again, 1);
    added(stream);
    captured(stream);
    changed(stream);
    in_any_form(stream);
    MUST(cuStreamDestroy(stream));
    return finish();
}
