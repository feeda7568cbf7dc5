// handle-leak and graph-exec-growth.
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

class handle_leak : public rules {
  protected:
    void make(std::uint64_t handle) {
        main.use(context).call("cuStreamCreate", {.object = handle, .stack = {"open", "main"}});
    }
    void destroy(std::uint64_t handle) { main.call("cuStreamDestroy_v2", {.stream = handle, .object = handle}); }
};

TEST_F(handle_leak, kept_until_exit_is_a_note) {
    make(stream);
    auto const f = only(rule::handle_leak);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.confidence, confidence::possible);
}

TEST_F(handle_leak, one_forgotten_among_many_is_a_warning) {
    for (std::uint64_t i = 0; i < 3; ++i) make(stream + i);
    destroy(stream);
    destroy(stream + 2);
    auto const f = only(rule::handle_leak);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.count, 1u);
}

TEST_F(handle_leak, growing_through_the_run_is_an_error) {
    for (std::uint64_t i = 0; i < 40; ++i) make(stream + i);
    EXPECT_EQ(only(rule::handle_leak).severity, severity::error);
}

TEST_F(handle_leak, of_each_kind) {
    main.use(context);
    main.call("cuEventCreate", {.object = 0x1});
    main.call("cuGraphCreate", {.object = 0x2});
    main.call("cuMemPoolCreate", {.object = 0x3});
    main.call("cuModuleLoadData", {.object = 0x4});
    main.call("cuLibraryLoadData", {.object = 0x5});
    main.call("cuCtxCreate_v2", {.object = 0x6});
    EXPECT_EQ(found(rule::handle_leak).size(), 6u) << titles(what());
    EXPECT_EQ(found(rule::handle_leak)[0].severity, severity::warning) << "pools and contexts keep much";
}

TEST_F(handle_leak, a_librarys_own_is_none) {
    main.use(context).call("cuStreamCreate", {.object = stream, .stack = {"libcublas.so.13!create", "main"}});
    expect_nothing();
}

TEST_F(handle_leak, default_pools_and_a_librarys_modules_are_none) {
    main.use(context).call("cuDeviceGetDefaultMemPool", {.object = 0x90, .extra = 1});
    main.call("cuLibraryLoadData", {.object = 0x5});
    main.call("cuLibraryGetModule", {.object = 0x4, .other = 0x5, .extra = 1});
    main.call("cuLibraryUnload", {.object = 0x5});
    expect_nothing();
}

TEST_F(handle_leak, what_went_with_its_context_is_none) {
    main.call("cuCtxCreate_v2", {.object = 0xc0});
    make(stream);
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    expect_nothing();
}

TEST_F(handle_leak, after_a_kill_it_is_only_possible) {
    main.use(context).call("cuMemPoolCreate", {.object = 0x3});
    t.ends("abrupt", {}, 9);
    EXPECT_EQ(only(rule::handle_leak).severity, severity::note);
}

TEST_F(handle_leak, graph_that_a_leaked_payload_names_is_told_there) {
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1});
    main.call("cuGraphRetainUserObject", {.object = 0x10, .other = 0x100, .size = 1, .extra = 1});
    only(rule::user_object_leak);
}

class graph_exec_growth : public rules {
  protected:
    void instantiate(std::uint64_t exec) {
        main.use(context).call("cuGraphInstantiateWithFlags",
                               {.object = exec, .other = 0x100, .stack = {"graph_for_shape", "main"}});
    }
};

TEST_F(graph_exec_growth, one_for_each_key_for_ever) {
    for (std::uint64_t i = 0; i < 40; ++i) instantiate(0x1000 + i);
    auto const f = only(rule::graph_exec_growth);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.count, 40u);
}

TEST_F(graph_exec_growth, some_destroyed_and_growing_all_the_same) {
    for (std::uint64_t i = 0; i < 80; ++i) {
        instantiate(0x1000 + i);
        if (i % 2 == 0) main.call("cuGraphExecDestroy", {.object = 0x1000 + i});
    }
    EXPECT_EQ(only(rule::graph_exec_growth).count, 40u);
}

TEST_F(graph_exec_growth, payloads_that_they_hold_are_a_consequence) {
    for (std::uint64_t i = 0; i < 40; ++i) {
        main.call("cuGraphCreate", {.object = 0x100});
        main.call("cuUserObjectCreate",
                  {.object = 0x10 + i, .other = 0x20 + i, .size = 1, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject", {.object = 0x10 + i, .other = 0x100, .size = 1, .extra = 1});
        instantiate(0x1000 + i);
        main.call("cuGraphDestroy", {.object = 0x100});
    }
    auto const f = only(rule::graph_exec_growth);
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.consequences[0].from, rule::user_object_leak);
    EXPECT_EQ(f.consequences[0].count, 40u);
}

TEST_F(graph_exec_growth, cache_that_has_reached_its_plateau_is_none) {
    for (std::uint64_t i = 0; i < 16; ++i) instantiate(0x1000 + i);
    for (int i = 0; i < 100; ++i) main.call("cuGraphLaunch", {.stream = stream, .object = 0x1000});
    EXPECT_TRUE(found(rule::graph_exec_growth).empty()) << titles(what());
    for (auto const& f : what().found) EXPECT_EQ(f.severity, severity::note) << titles(what());
}

TEST_F(graph_exec_growth, replaced_all_the_time_is_none) {
    for (std::uint64_t i = 0; i < 40; ++i) {
        instantiate(0x1000 + i);
        main.call("cuGraphExecDestroy", {.object = 0x1000 + i});
    }
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
