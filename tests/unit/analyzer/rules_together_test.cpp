#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

TEST_F(rules, most_important_first) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"setup", "main"}});
    main.call("cuMemAlloc_v2", {.object = buffer + mib, .size = mib, .stack = {"libx.so!keep", "main"}});
    main.call("cuMemAllocAsync_ptsz", {.object = buffer + 2 * mib, .size = mib, .stack = {"make", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer + 2 * mib, .result = 201, .stack = {"drop"}});
    ASSERT_EQ(what().found.size(), 3u) << titles(what());
    EXPECT_EQ(what().found[0].severity, severity::error);
    EXPECT_EQ(what().found[1].severity, severity::warning);
    EXPECT_EQ(what().found[2].severity, severity::note);
}

TEST_F(rules, memory_whose_free_failed_is_not_a_leak_too) {
    main.use(context).call("cuMemAllocAsync_ptsz", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer, .result = 201});
    only(rule::failed_free);
}

TEST(fingerprint, is_the_same_wherever_the_program_was_loaded) {
    auto const fingerprint = [](std::int64_t bias, std::uint64_t pointer) {
        trace_builder t;
        auto main = t.thread("main");
        main.use(t.context()).call("cuMemAlloc_v2", {.object = pointer, .size = 1, .stack = {"setup", "main"}});
        auto const by = std::to_string(bias);
        t.sql("UPDATE frame SET address = address + " + by);
        t.sql("UPDATE module SET load_bias = load_bias + " + by + ", first_address = first_address + " + by);
        auto const what = analyse(t);
        return what.found.empty() ? std::string{} : what.found[0].fingerprint;
    };
    auto const first = fingerprint(0, 0x1000);
    EXPECT_EQ(first.size(), 16u);
    EXPECT_EQ(first, fingerprint(0x10000, 0x2000));
}

TEST(fingerprint, differs_by_place) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 1, .stack = {"one", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 1, .stack = {"two", "main"}});
    auto const what = analyse(t);
    ASSERT_EQ(what.found.size(), 2u);
    EXPECT_NE(what.found[0].fingerprint, what.found[1].fingerprint);
}

}  // namespace
}  // namespace lastref::test
