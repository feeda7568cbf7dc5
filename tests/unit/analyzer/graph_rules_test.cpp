// stale-graph-reference, graph-allocation-leak, ptds-graph-attach.
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t graph = 0x100, exec = 0x200, node = 0x900, payload = 0x20;

class stale_graph_reference : public rules {
  protected:
    stale_graph_reference() {
        main.use(context);
        main.call("cuStreamCreate", {.object = stream, .extra = 1});
        main.call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    }
    void capture() {
        main.call("cuStreamBeginCapture_v2", {.stream = stream, .extra = 1});
        main.call("cuMemsetD8Async", {.stream = stream, .object = buffer + 64, .size = 64, .stack = {"step", "main"}});
        main.call("cuStreamEndCapture", {.stream = stream, .object = graph});
        instantiate();
    }
    void instantiate() {
        main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = graph});
        main.call("cuGraphDestroy", {.object = graph});
    }
    void free() { main.call("cuMemFree_v2", {.object = buffer, .stack = {"drop", "main"}}); }
    void launch() { main.call("cuGraphLaunch", {.stream = stream, .object = exec, .stack = {"replay", "main"}}); }
    void end() {
        main.call("cuGraphExecDestroy", {.object = exec});
        main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    }
    void host_node() {
        main.call("cuUserObjectCreate", {.object = 0x10, .other = payload, .size = 1});
        main.call("cuGraphCreate", {.object = graph});
        main.call("cuGraphAddHostNode",
                  {.object = node, .other = graph, .size = payload, .extra = 3, .stack = {"build", "main"}});
        main.call("cuGraphRetainUserObject", {.object = 0x10, .other = graph, .size = 1, .extra = 1});
        instantiate();
    }
};

TEST_F(stale_graph_reference, captured_freed_launched) {
    capture();
    free();
    launch();
    end();
    auto const f = only(rule::stale_graph_reference);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::proven);
    ASSERT_EQ(f.sites.size(), 4u);
    EXPECT_EQ(f.sites[1].role, "freed");
}

TEST_F(stale_graph_reference, freed_after_the_launch_is_none) {
    capture();
    launch();
    free();
    end();
    expect_nothing();
}

TEST_F(stale_graph_reference, freed_and_never_launched_again_is_none) {
    capture();
    free();
    end();
    expect_nothing();
}

TEST_F(stale_graph_reference, the_same_address_allocated_again_is_none) {
    capture();
    free();
    main.call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    launch();
    free();
    end();
    expect_nothing();
}

TEST_F(stale_graph_reference, changed_parameters_are_not_vouched_for) {
    capture();
    main.call("cuGraphExecMemsetNodeSetParams", {.object = exec, .other = node});
    free();
    launch();
    end();
    expect_nothing();
}

TEST_F(stale_graph_reference, updated_from_a_graph_without_it_is_none) {
    capture();
    main.call("cuGraphCreate", {.object = 0x101});
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = 0x101});
    main.call("cuGraphDestroy", {.object = 0x101});
    free();
    launch();
    end();
    expect_nothing();
}

TEST_F(stale_graph_reference, through_a_child_graph_and_a_clone) {
    main.call("cuStreamBeginCapture_v2", {.stream = stream, .extra = 1});
    main.call("cuMemsetD8Async", {.stream = stream, .object = buffer, .size = 64});
    main.call("cuStreamEndCapture", {.stream = stream, .object = 0x101});
    main.call("cuGraphClone", {.object = graph, .other = 0x101});
    main.call("cuGraphDestroy", {.object = 0x101});
    instantiate();
    free();
    launch();
    end();
    only(rule::stale_graph_reference);
}

TEST_F(stale_graph_reference, payload_set_in_an_executable_graph_is_not_kept) {
    host_node();
    main.call("cuUserObjectCreate", {.object = 0x11, .other = payload + 8, .size = 1});
    main.call("cuGraphExecHostNodeSetParams", {.object = exec, .other = node, .size = payload + 8});
    main.call("cuUserObjectRelease", {.object = 0x11, .size = 1});
    worker.destructor(0x11, payload + 8);
    launch();
    end();
    worker.destructor(0x10, payload);
    free();
    auto const f = only(rule::stale_graph_reference);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_NE(f.title.find("payload"), std::string::npos) << f.title;
}

TEST_F(stale_graph_reference, payload_that_the_graph_holds_is_none) {
    host_node();
    launch();
    end();
    worker.destructor(0x10, payload);
    free();
    expect_nothing();
}

class graph_allocation_leak : public rules {
  protected:
    void build(bool with_free, std::uint64_t flags = 0) {
        main.use(context).call("cuStreamCreate", {.object = stream, .extra = 1});
        main.call("cuGraphCreate", {.object = graph});
        main.call("cuGraphAddMemAllocNode",
                  {.object = node, .other = graph, .size = mib, .extra = buffer, .stack = {"build", "main"}});
        if (with_free) main.call("cuGraphAddMemFreeNode", {.object = node + 1, .other = graph, .extra = buffer});
        main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = graph, .extra = flags});
        main.call("cuGraphDestroy", {.object = graph});
    }
    void launch() { main.call("cuGraphLaunch", {.stream = stream, .object = exec, .stack = {"replay", "main"}}); }
    void end() {
        main.call("cuGraphExecDestroy", {.object = exec});
        main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    }
};

TEST_F(graph_allocation_leak, no_free_node) {
    build(false);
    launch();
    end();
    auto const f = only(rule::graph_allocation_leak);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_EQ(f.count, 1u);
}

TEST_F(graph_allocation_leak, auto_free_does_not_free_at_destruction) {
    build(false, 1);
    launch();
    launch();
    end();
    auto const f = only(rule::graph_allocation_leak);
    EXPECT_EQ(f.count, 1u);
    EXPECT_NE(f.what[1].find("AUTO_FREE"), std::string::npos) << f.what[1];
}

TEST_F(graph_allocation_leak, captured_allocation) {
    main.use(context).call("cuStreamCreate", {.object = stream, .extra = 1});
    main.call("cuStreamBeginCapture_v2", {.stream = stream, .extra = 1});
    main.call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = mib});
    main.call("cuStreamEndCapture", {.stream = stream, .object = graph});
    main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = graph});
    main.call("cuGraphDestroy", {.object = graph});
    launch();
    end();
    only(rule::graph_allocation_leak);
}

TEST_F(graph_allocation_leak, free_node_is_none) {
    build(true);
    launch();
    end();
    expect_nothing();
}

TEST_F(graph_allocation_leak, freed_after_the_launch_is_none) {
    build(false);
    launch();
    main.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    end();
    expect_nothing();
}

TEST_F(graph_allocation_leak, never_launched_is_none) {
    build(false);
    end();
    expect_nothing();
}

TEST_F(graph_allocation_leak, freed_by_another_graph_is_none) {
    build(false);
    main.call("cuGraphCreate", {.object = graph});
    main.call("cuGraphAddMemFreeNode", {.object = node + 1, .other = graph, .extra = buffer});
    main.call("cuGraphInstantiateWithFlags", {.object = exec + 1, .other = graph});
    main.call("cuGraphDestroy", {.object = graph});
    launch();
    main.call("cuGraphLaunch", {.stream = stream, .object = exec + 1});
    main.call("cuGraphExecDestroy", {.object = exec + 1});
    end();
    expect_nothing();
}

class ptds_graph_attach : public rules {
  protected:
    void attach(std::string_view alloc = "cuMemAllocAsync_ptsz", std::uint64_t on = 0) {
        main.use(context);
        worker.use(context);
        main.call("cuStreamCreate", {.object = stream, .extra = 1});
        main.call("cuGraphCreate", {.object = graph});
        main.call(alloc, {.stream = on, .object = buffer, .size = mib, .stack = {"make", "attach", "main"}});
        main.call("cuMemsetD8Async_ptsz", {.stream = on, .object = buffer, .size = 64});
        main.call("cuUserObjectCreate", {.object = 0x10, .other = payload, .size = 1, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject",
                  {.object = 0x10, .other = graph, .size = 1, .extra = 1, .stack = {"attach", "main"}});
        main.call("cuGraphDestroy", {.object = graph});
        worker.destructor(0x10, payload);
    }
    void end() { main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream}); }
};

TEST_F(ptds_graph_attach, freed_by_another_threads_drain) {
    attach();
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer, .stack = {"drain", "loop"}});
    end();
    auto const f = only(rule::ptds_graph_attach);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_EQ(f.sites[1].role, "given to a graph");
}

TEST_F(ptds_graph_attach, freed_on_its_own_thread_is_none) {
    attach();
    main.call("cuMemFreeAsync_ptsz", {.object = buffer});
    end();
    expect_nothing();
}

TEST_F(ptds_graph_attach, freed_elsewhere_after_a_wait_is_none) {
    attach();
    main.call("cuStreamSynchronize_ptsz");
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    end();
    expect_nothing();
}

TEST_F(ptds_graph_attach, created_stream_is_none) {
    attach("cuMemAllocAsync", stream);
    worker.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    end();
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
