// The ledger over recorded events: every way in which references move, with the destructor as the witness.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/analyse.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t object = 0x10, payload = 0x20;
constexpr std::uint64_t graph = 0x100, clone = 0x101, child = 0x102, embedded = 0x103, other_graph = 0x104;
constexpr std::uint64_t exec = 0x200;
constexpr std::uint64_t node = 0x300;
constexpr std::uint64_t move = 1;
constexpr std::uint64_t stream = 0x400;

class ledger_events : public ::testing::Test {
  protected:
    void create(std::uint64_t count = 1) {
        main.call("cuUserObjectCreate", {.object = object, .other = payload, .size = count, .extra = 0xd0});
    }
    void create_graph(std::uint64_t handle) { main.call("cuGraphCreate", {.object = handle}); }
    void retain_by(std::uint64_t g, std::uint64_t count = 1, std::uint64_t flags = move) {
        main.call("cuGraphRetainUserObject", {.object = object, .other = g, .size = count, .extra = flags});
    }
    void release(std::uint64_t count = 1) { main.call("cuUserObjectRelease", {.object = object, .size = count}); }
    void destroy(std::uint64_t g) { main.call("cuGraphDestroy", {.object = g}); }
    void instantiate(std::uint64_t g, std::uint64_t e = exec) {
        main.call("cuGraphInstantiateWithFlags", {.object = e, .other = g});
    }
    void destroy_exec() { main.call("cuGraphExecDestroy", {.object = exec}); }
    void add_child(std::uint64_t into, std::uint64_t of) {
        main.call("cuGraphAddChildGraphNode", {.object = node, .other = into, .extra = of});
    }
    void launch() { main.call("cuGraphLaunch", {.stream = stream, .object = exec}); }
    void synchronize() { main.call("cuStreamSynchronize", {.stream = stream, .object = stream}); }
    void destructor() { driver.destructor(object, payload); }

    // The destructor came when the book had come to zero.
    void expect_agreed() {
        auto const what = analyse(t);
        EXPECT_EQ(what.ledger.predicted, 1u);
        EXPECT_EQ(what.ledger.agreed, 1u);
        EXPECT_EQ(what.ledger.unexpected, 0u);
        EXPECT_EQ(of_rule(what, findings::rule::user_object_leak).size(), 0u) << titles(what);
    }
    void expect_unexpected() {
        auto const what = analyse(t);
        EXPECT_EQ(what.ledger.unexpected, 1u);
        EXPECT_EQ(what.ledger.agreed, 0u);
    }
    findings::finding leak() {
        auto const what = analyse(t);
        auto const leaks = of_rule(what, findings::rule::user_object_leak);
        EXPECT_EQ(leaks.size(), 1u) << titles(what);
        return leaks.empty() ? findings::finding{} : leaks.front();
    }

    trace_builder t;
    thread_builder main = t.thread("main");
    thread_builder driver = t.thread("cuda-driver");
};

TEST_F(ledger_events, release_by_the_caller) {
    create(2);
    release(2);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, retain_needs_another_release) {
    create();
    main.call("cuUserObjectRetain", {.object = object, .size = 2});
    release(1);
    release(2);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, early_destructor_is_unexpected) {
    create(2);
    release(1);
    destructor();
    expect_unexpected();
}

TEST_F(ledger_events, failed_calls_move_nothing) {
    create();
    main.call("cuUserObjectRetain", {.object = object, .size = 1, .result = 1});
    create_graph(graph);
    main.call("cuGraphRetainUserObject", {.object = object, .other = graph, .size = 1, .result = 1});
    release();
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, moved_reference_goes_with_the_graph) {
    create();
    create_graph(graph);
    retain_by(graph);
    destroy(graph);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, retain_without_move_leaves_the_callers_reference) {
    create();
    create_graph(graph);
    retain_by(graph, 1, 0);
    destroy(graph);
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("the program itself: 1 reference"), std::string::npos);
    EXPECT_EQ(found.severity, findings::severity::error);
}

TEST_F(ledger_events, graph_releases) {
    create();
    create_graph(graph);
    retain_by(graph);
    main.call("cuGraphReleaseUserObject", {.object = object, .other = graph, .size = 1});
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, clone_holds_its_own_copy) {
    create();
    create_graph(graph);
    retain_by(graph, 1);
    main.call("cuGraphClone", {.object = clone, .other = graph});
    destroy(graph);
    destroy(clone);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, destructor_before_the_clone_is_destroyed_is_unexpected) {
    create();
    create_graph(graph);
    retain_by(graph);
    main.call("cuGraphClone", {.object = clone, .other = graph});
    destroy(graph);
    destructor();
    expect_unexpected();
}

TEST_F(ledger_events, executable_graph_outlives_its_graph) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("executable graph 0x200: 1 reference"), std::string::npos) << found.holders[0];
    EXPECT_EQ(found.severity, findings::severity::warning);
}

TEST_F(ledger_events, executable_graph_gives_up_its_copy) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    destroy_exec();
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, every_form_of_instantiation_copies) {
    for (auto const* form : {"cuGraphInstantiate", "cuGraphInstantiate_v2", "cuGraphInstantiateWithFlags",
                             "cuGraphInstantiateWithParams", "cuGraphInstantiateWithParams_ptsz"}) {
        trace_builder own;
        auto thread = own.thread("main");
        thread.call("cuGraphCreate", {.object = graph});
        thread.call("cuUserObjectCreate", {.object = object, .other = payload, .size = 1});
        thread.call("cuGraphRetainUserObject", {.object = object, .other = graph, .size = 1, .extra = move});
        thread.call(form, {.object = exec, .other = graph});
        thread.call("cuGraphDestroy", {.object = graph});
        EXPECT_EQ(of_rule(analyse(own), findings::rule::user_object_leak).size(), 1u) << form;
    }
}

TEST_F(ledger_events, child_graph_holds_a_copy) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    destroy(child);
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("child graph in graph 0x100: 1 reference"), std::string::npos) << found.holders[0];
}

TEST_F(ledger_events, child_graph_goes_with_its_parent) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    destroy(child);
    destroy(graph);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, child_graph_goes_with_its_node) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    destroy(child);
    main.call("cuGraphDestroyNode", {.object = node});
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, embedded_graph_releases_its_own_references) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    destroy(child);
    main.call("cuGraphChildGraphNodeGetGraph", {.object = embedded, .other = node});
    main.call("cuGraphReleaseUserObject", {.object = object, .other = embedded, .size = 1});
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, clone_copies_child_graphs) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    main.call("cuGraphClone", {.object = clone, .other = graph});
    destroy(child);
    destroy(graph);
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("in graph 0x101"), std::string::npos) << found.holders[0];
}

TEST_F(ledger_events, node_of_a_clone_is_found_by_its_original) {
    constexpr std::uint64_t cloned_node = 0x301;
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    main.call("cuGraphClone", {.object = clone, .other = graph});
    destroy(child);
    destroy(graph);
    main.call("cuGraphNodeFindInClone", {.object = clone, .other = node, .extra = cloned_node});
    main.call("cuGraphDestroyNode", {.object = cloned_node});
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, conditional_body_holds_references) {
    create();
    create_graph(graph);
    main.call("cuGraphAddNode", {.object = node, .other = graph, .extra = 13});
    main.call("graph_body", {.object = embedded, .other = graph, .extra = node});
    retain_by(embedded);
    destroy(graph);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, instantiation_copies_child_graphs) {
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    add_child(graph, child);
    destroy(child);
    instantiate(graph);
    destroy(graph);
    destroy_exec();
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, update_replaces_what_the_executable_graph_held) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    create_graph(other_graph);
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph});
    destructor();
    expect_agreed();
}

// An update is recorded at its end, and a destructor that it sets off may run inside it.
TEST_F(ledger_events, destructor_inside_the_update_that_set_it_off) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    create_graph(other_graph);
    destructor();
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph, .lasts_ms = 2});
    expect_agreed();
}

TEST_F(ledger_events, destructor_before_the_update_began) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    create_graph(other_graph);
    destructor();
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph});
    expect_unexpected();
}

TEST_F(ledger_events, update_takes_the_new_references) {
    create_graph(graph);
    instantiate(graph);
    create();
    create_graph(other_graph);
    retain_by(other_graph);
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph});
    destroy(other_graph);
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("executable graph"), std::string::npos);
}

TEST_F(ledger_events, failed_update_replaces_nothing) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    create_graph(other_graph);
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph, .result = 910});
    EXPECT_EQ(leak().holders.size(), 1u);
}

TEST_F(ledger_events, child_set_params_replaces_the_childs_references_only) {
    constexpr std::uint64_t other_object = 0x11;
    create();
    create_graph(child);
    retain_by(child);
    create_graph(graph);
    main.call("cuUserObjectCreate", {.object = other_object, .other = 0x21, .size = 1});
    main.call("cuGraphRetainUserObject", {.object = other_object, .other = graph, .size = 1, .extra = move});
    add_child(graph, child);
    destroy(child);
    instantiate(graph);
    destroy(graph);
    create_graph(other_graph);
    main.call("cuGraphExecChildGraphNodeSetParams", {.object = exec, .other = node, .extra = other_graph});
    destructor();
    auto const what = analyse(t);
    EXPECT_EQ(what.ledger.agreed, 1u);
    EXPECT_EQ(what.ledger.unexpected, 0u);
    EXPECT_EQ(of_rule(what, findings::rule::user_object_leak).size(), 1u) << titles(what);
}

TEST_F(ledger_events, child_set_params_after_an_update_still_finds_its_node) {
    create_graph(child);
    create_graph(graph);
    add_child(graph, child);
    instantiate(graph);
    create();
    create_graph(other_graph);
    main.call("cuGraphAddChildGraphNode", {.object = 0x3ff, .other = other_graph, .extra = child});
    main.call("cuGraphExecUpdate_v2", {.object = exec, .other = other_graph});
    retain_by(child);
    main.call("cuGraphExecChildGraphNodeSetParams", {.object = exec, .other = node, .extra = child});
    destroy(child);
    EXPECT_EQ(leak().holders.size(), 1u);
}

TEST_F(ledger_events, references_of_a_graph_destroyed_in_flight_wait_for_the_launch) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    launch();
    destroy_exec();
    auto const found = leak();
    ASSERT_EQ(found.holders.size(), 1u);
    EXPECT_NE(found.holders[0].find("launch in flight"), std::string::npos) << found.holders[0];
    EXPECT_EQ(found.severity, findings::severity::note);
}

TEST_F(ledger_events, destructor_after_a_launch_in_flight_agrees) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    launch();
    destroy_exec();
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, synchronization_ends_the_launch) {
    create();
    create_graph(graph);
    retain_by(graph);
    instantiate(graph);
    destroy(graph);
    launch();
    destroy_exec();
    synchronize();
    auto const found = leak();
    EXPECT_TRUE(found.holders.empty());
    EXPECT_NE(found.title.find("due for destruction"), std::string::npos) << found.title;
}

TEST_F(ledger_events, destructor_that_was_due_and_never_ran_is_not_counted_as_agreed) {
    create();
    release();
    auto const what = analyse(t);
    EXPECT_EQ(what.ledger.predicted, 1u);
    EXPECT_EQ(what.ledger.agreed, 0u);
}

TEST_F(ledger_events, captured_graph_takes_references) {
    main.call("cuStreamBeginCapture_v2", {.stream = stream});
    create();
    main.call("cuStreamGetCaptureInfo_v2", {.stream = stream, .object = graph, .extra = 1});
    retain_by(graph);
    main.call("cuStreamEndCapture", {.stream = stream, .object = graph});
    destroy(graph);
    destructor();
    expect_agreed();
}

TEST_F(ledger_events, recycled_handle_before_the_old_destructor_ran) {
    create();
    release();
    main.call("cuUserObjectCreate", {.object = object, .other = 0x99, .size = 1});
    destructor();  // of the first, by its payload
    main.call("cuUserObjectRelease", {.object = object, .size = 1});
    driver.destructor(object, 0x99);
    auto const what = analyse(t);
    EXPECT_EQ(what.ledger.agreed, 2u);
    EXPECT_EQ(what.ledger.unexpected, 0u);
    EXPECT_TRUE(what.found.empty()) << titles(what);
}

TEST_F(ledger_events, graph_handle_recycled) {
    create();
    create_graph(graph);
    retain_by(graph);
    destroy(graph);
    destructor();
    create_graph(graph);  // the same handle, another graph
    main.call("cuUserObjectCreate", {.object = object, .other = payload, .size = 1});
    retain_by(graph);
    auto const found = leak();
    EXPECT_EQ(found.count, 1u);
}

}  // namespace
}  // namespace lastref::test
