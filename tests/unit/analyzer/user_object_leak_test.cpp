#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

// The ways of references are tested in ledger_test.cpp.
class user_object_leak : public rules {
  protected:
    void held_by_an_executable_graph() {
        main.use(context);
        main.call("cuGraphCreate", {.object = 0x100, .stack = {"build", "main"}});
        main.call("cuMemAllocAsync",
                  {.stream = stream, .object = buffer, .size = mib, .stack = {"make_payload", "attach", "main"}});
        main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject",
                  {.object = 0x10, .other = 0x100, .size = 1, .extra = 1, .stack = {"attach", "main"}});
        main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100, .stack = {"build", "main"}});
        main.call("cuGraphDestroy", {.object = 0x100});
    }
};

TEST_F(user_object_leak, held_by_an_executable_graph_with_its_payload_as_consequence) {
    held_by_an_executable_graph();
    auto const f = only(rule::user_object_leak);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::proven);
    EXPECT_NE(f.title.find("executable graph"), std::string::npos) << f.title;
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.consequences[0].from, rule::allocation_leak);
    EXPECT_EQ(f.consequences[0].bytes, mib);
    ASSERT_EQ(f.sites.size(), 2u);
    EXPECT_EQ(f.sites[1].role, "instantiated");
}

TEST_F(user_object_leak, memory_far_from_the_user_object_is_a_finding_of_its_own) {
    main.use(context);
    main.call("cuMemAlloc_v2",
              {.object = buffer, .size = mib, .stack = {"load", "setup", "start", "a", "b", "c", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    EXPECT_EQ(found(rule::user_object_leak).size(), 1u);
    EXPECT_TRUE(found(rule::user_object_leak)[0].consequences.empty());
    EXPECT_EQ(found(rule::allocation_leak).size(), 1u);
}

TEST_F(user_object_leak, killed_process_is_only_possible) {
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1});
    t.ends("abrupt", {}, 9);
    auto const f = only(rule::user_object_leak);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_NE(f.confidence_reason.find("signal 9"), std::string::npos) << f.confidence_reason;
}

TEST_F(user_object_leak, all_from_one_place_are_one_finding) {
    for (std::uint64_t i = 0; i < 50; ++i)
        main.call("cuUserObjectCreate", {.object = 0x1000 + i, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    EXPECT_EQ(only(rule::user_object_leak).count, 50u);
}

TEST_F(user_object_leak, healthy_twin) {
    held_by_an_executable_graph();
    main.call("cuGraphExecDestroy", {.object = 0x200});
    worker.destructor(0x10, 0x20);
    main.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
