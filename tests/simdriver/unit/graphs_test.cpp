#include <algorithm>
#include <vector>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

class graphs : public driver_test {
  protected:
    void SetUp() override {
        driver_test::SetUp();
        OK(cuMemAlloc(&memory, 4096));
        OK(cuMemsetD8(memory, 0, 4096));
        OK(cuCtxSynchronize());
    }
    void TearDown() override {
        OK(cuMemFree(memory));
        driver_test::TearDown();
    }
    CUgraphNode add_memset(CUgraph graph, CUdeviceptr to, unsigned value, CUgraphNode after = nullptr) {
        CUDA_MEMSET_NODE_PARAMS const set = memset_of(to, value);
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &set, primary),
                  CUDA_SUCCESS);
        return node;
    }
    static CUDA_MEMSET_NODE_PARAMS memset_of(CUdeviceptr to, unsigned value) {
        CUDA_MEMSET_NODE_PARAMS set{};
        set.dst = to;
        set.value = value;
        set.elementSize = 4;
        set.width = set.height = 1;
        return set;
    }
    unsigned word(CUdeviceptr at) {
        unsigned value = 0;
        EXPECT_EQ(cuMemcpyDtoH(&value, at, 4), CUDA_SUCCESS);
        return value;
    }
    void run(CUgraphExec exec) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
    }
    CUdeviceptr memory = 0;
};

std::size_t node_count(CUgraph graph) {
    std::size_t number = 0;
    EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &number), CUDA_SUCCESS);
    return number;
}

TEST_F(graphs, launch_runs_nodes_in_dependency_order) {
    CUgraph const graph = make_graph();
    CUgraphNode const second = add_memset(graph, memory, 2), first = add_memset(graph, memory, 1);
    OK(cuGraphAddDependencies(graph, &first, &second, nullptr, 1));
    CUgraphExec const exec = instantiate(graph);
    run(exec);
    EXPECT_EQ(word(memory), 2u);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_F(graphs, executable_graph_is_a_snapshot) {
    CUgraph const graph = make_graph();
    CUgraphNode const node = add_memset(graph, memory, 1);
    CUgraphExec const exec = instantiate(graph);
    CUDA_MEMSET_NODE_PARAMS changed = memset_of(memory, 5), read{};
    OK(cuGraphMemsetNodeSetParams(node, &changed));
    run(exec);
    EXPECT_EQ(word(memory), 1u);
    OK(cuGraphExecMemsetNodeSetParams(exec, node, &changed, primary));
    run(exec);
    EXPECT_EQ(word(memory), 5u);
    OK(cuGraphMemsetNodeGetParams(node, &read));
    EXPECT_EQ(read.value, 5u);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_F(graphs, disabled_node_does_nothing) {
    CUgraph const graph = make_graph();
    CUgraphNode const node = add_memset(graph, memory, 1);
    CUgraphExec const exec = instantiate(graph);
    unsigned enabled = 1;
    OK(cuGraphNodeSetEnabled(exec, node, 0));
    OK(cuGraphNodeGetEnabled(exec, node, &enabled));
    EXPECT_EQ(enabled, 0u);
    run(exec);
    EXPECT_EQ(word(memory), 0u);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_F(graphs, shape_can_be_read_and_changed) {
    CUgraph const graph = make_graph();
    CUgraphNode const a = add_empty(graph), b = add_empty(graph, {a}), c = add_empty(graph, {a, b});
    std::size_t number = 0;
    OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &number));
    EXPECT_EQ(number, 3u);
    std::vector<CUgraphNode> after(2);
    number = 2;
    OK(cuGraphNodeGetDependencies(c, after.data(), nullptr, &number));
    EXPECT_EQ(number, 2u);
    EXPECT_NE(std::find(after.begin(), after.end(), b), after.end());
    CUgraphExec exec = nullptr;
    OK(cuGraphAddDependencies(graph, &c, &a, nullptr, 1)) << "a cycle is found at instantiation only";
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphRemoveDependencies(graph, &c, &a, nullptr, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &a, &b, nullptr, 1)) << "already there";
    OK(cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
    OK(cuGraphDestroyNode(b));
    number = 2;
    OK(cuGraphGetRootNodes(graph, after.data(), &number));
    EXPECT_EQ(number, 2u);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(b));
    OK(cuGraphDestroy(graph));
}

TEST_F(graphs, clone_finds_its_nodes) {
    CUgraph const graph = make_graph();
    CUgraphNode const a = add_empty(graph), b = add_empty(graph, {a});
    CUgraph clone = nullptr;
    CUgraphNode in_clone = nullptr;
    std::size_t number = 1;
    OK(cuGraphClone(&clone, graph));
    EXPECT_EQ(node_count(clone), 2u);
    OK(cuGraphNodeFindInClone(&in_clone, b, clone));
    CUgraphNode before = nullptr;
    OK(cuGraphNodeGetDependencies(in_clone, &before, nullptr, &number));
    CUgraphNode other = nullptr;
    OK(cuGraphNodeFindInClone(&other, a, clone));
    EXPECT_EQ(before, other);
    EXPECT_NE(other, a);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&other, a, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
}

TEST_F(graphs, child_graph_is_a_copy_that_the_node_owns) {
    CUgraph const child = make_graph(), parent = make_graph();
    add_memset(child, memory, 3);
    CUgraphNode node = nullptr;
    CUgraph embedded = nullptr;
    OK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    EXPECT_NE(embedded, child);
    EXPECT_EQ(node_count(embedded), 1u);
    OK(cuGraphDestroy(child));
    CUgraphExec const exec = instantiate(parent);
    run(exec);
    EXPECT_EQ(word(memory), 3u);
    OK(cuGraphDestroy(parent));
    std::size_t number = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(embedded, nullptr, &number));
    OK(cuGraphExecDestroy(exec));
}

TEST_F(graphs, child_graph_can_be_moved_into_its_node) {
    CUgraph const child = make_graph(), parent = make_graph();
    CUgraph embedded = nullptr;
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
    OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    EXPECT_EQ(embedded, child);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
    OK(cuGraphDestroy(parent));
}

TEST_F(graphs, conditional_body_runs_when_its_value_says_so) {
    for (unsigned const value : {0u, 1u}) {
        CUgraph const graph = make_graph();
        CUgraphConditionalHandle handle = 0;
        OK(cuMemsetD8(memory, 0, 16));
        OK(cuCtxSynchronize());
        OK(cuGraphConditionalHandleCreate(&handle, graph, primary, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.handle = handle;
        params.conditional.type = CU_GRAPH_COND_TYPE_IF;
        params.conditional.size = 1;
        params.conditional.ctx = primary;
        CUgraphNode node = nullptr;
        OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        ASSERT_TRUE(params.conditional.phGraph_out);
        add_memset(params.conditional.phGraph_out[0], memory, 8);
        add_memset(graph, memory + 4, 9, node);
        CUgraphExec const exec = instantiate(graph);
        run(exec);
        EXPECT_EQ(word(memory), value ? 8u : 0u);
        EXPECT_EQ(word(memory + 4), 9u);
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
}

TEST_F(graphs, update_needs_the_same_shape) {
    CUgraph const graph = make_graph(), same = make_graph(), other_kind = make_graph(), longer = make_graph();
    add_memset(graph, memory, 1);
    add_memset(same, memory, 2);
    add_empty(other_kind);
    add_memset(longer, memory, 3);
    add_empty(longer);
    CUgraphExec const exec = instantiate(graph);
    CUgraphExecUpdateResultInfo info{};
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other_kind, &info));
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, longer, &info));
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    GIVES(CUDA_SUCCESS, cuGraphExecUpdate(exec, same, &info));
    run(exec);
    EXPECT_EQ(word(memory), 2u);
    OK(cuGraphExecDestroy(exec));
    for (CUgraph const each : {graph, same, other_kind, longer}) OK(cuGraphDestroy(each));
}

TEST_F(graphs, launches_of_one_executable_graph_run_one_after_the_other) {
    CUstream other = nullptr;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    std::atomic<int> runs{0};
    CUgraph const graph = make_graph();
    CUDA_HOST_NODE_PARAMS params{count, &runs};
    CUgraphNode node = nullptr;
    OK(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
    CUgraphExec const exec = instantiate(graph);
    gate held(stream);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, other));
    give_it_time();
    EXPECT_EQ(runs, 0);
    held.open();
    OK(cuStreamSynchronize(other));
    EXPECT_EQ(runs, 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(other));
}

class graph_memory : public graphs {
  protected:
    void SetUp() override {
        graphs::SetUp();
        graph = make_graph();
        CUDA_MEM_ALLOC_NODE_PARAMS params{};
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        params.bytesize = 4096;
        OK(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
        inside = params.dptr;
    }
    unsigned long long used() {
        cuuint64_t value = 0;
        EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value), CUDA_SUCCESS);
        return value;
    }
    unsigned long long reserved() {
        cuuint64_t value = 0;
        EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &value), CUDA_SUCCESS);
        return value;
    }
    void trim_leaves(unsigned long long bytes) {
        OK(cuDeviceGraphMemTrim(0));
        EXPECT_EQ(used(), bytes);
        EXPECT_EQ(reserved(), bytes);
    }
    static constexpr unsigned long long chunk = 32 << 20;
    CUgraph graph = nullptr;
    CUgraphNode alloc = nullptr;
    CUdeviceptr inside = 0;
};

TEST_F(graph_memory, must_be_freed_before_the_next_launch) {
    CUgraphExec const exec = instantiate(graph);
    run(exec);
    EXPECT_EQ(used(), chunk);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
    GIVES(CUDA_SUCCESS, cuMemFreeAsync(inside, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(inside, stream));
    GIVES(CUDA_SUCCESS, cuGraphLaunch(exec, stream));
    GIVES(CUDA_SUCCESS, cuMemFree(inside));
    trim_leaves(0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_F(graph_memory, outlives_its_executable_graph_until_freed) {
    CUgraphExec const exec = instantiate(graph);
    run(exec);
    GIVES(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    trim_leaves(chunk);
    GIVES(CUDA_SUCCESS, cuMemFreeAsync(inside, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(used(), chunk) << "only a trim gives it back";
    trim_leaves(0);
}

TEST_F(graph_memory, automatic_free_at_launch_not_at_destruction) {
    CUgraphExec const exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    run(exec);
    run(exec);
    EXPECT_EQ(used(), chunk);
    EXPECT_EQ(reserved(), chunk);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    trim_leaves(chunk);
    OK(cuMemFree(inside));
    trim_leaves(0);
}

TEST_F(graph_memory, free_node_frees) {
    CUgraphNode free = nullptr;
    OK(cuGraphAddMemFreeNode(&free, graph, &alloc, 1, inside));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, graph, &alloc, 1, inside)) << "once a graph";
    CUgraphExec const exec = instantiate(graph);
    run(exec);
    run(exec);
    trim_leaves(0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(inside));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_F(graph_memory, one_executable_graph_at_a_time) {
    CUgraphExec const exec = instantiate(graph);
    CUgraphExec second = nullptr;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiate(&second, graph, 0));
    OK(cuGraphExecDestroy(second));
    OK(cuGraphDestroy(graph));
}

TEST_F(graph_memory, freed_by_another_graph_only_while_it_is_there) {
    CUgraph const other = make_graph();
    CUgraphNode free = nullptr;
    OK(cuGraphAddMemFreeNode(&free, other, nullptr, 0, inside));
    CUgraphExec const allocating = instantiate(graph), freeing = instantiate(other);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(freeing, stream));
    OK(cuGraphLaunch(allocating, stream));
    OK(cuGraphLaunch(freeing, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(freeing, stream));
    OK(cuStreamSynchronize(stream));
    for (CUgraphExec const each : {allocating, freeing}) OK(cuGraphExecDestroy(each));
    for (CUgraph const each : {graph, other}) OK(cuGraphDestroy(each));
}

}  // namespace
}  // namespace lastref::simdriver::test
