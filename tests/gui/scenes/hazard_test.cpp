#include "gui/scenes/hazard.h"

#include <gtest/gtest.h>

#include "analyzer/detectors/analysis.h"
#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

class hazards : public ::testing::Test {
  protected:
    std::shared_ptr<hazard const> of_rule(findings::rule rule, watch const& tell = {}) {
        auto const trace = store::trace::open(t.finish());
        for (auto const& found : detectors::analyse(trace).found)
            if (found.rule == rule) return build_hazard(trace, request_of(found), tell);
        return nullptr;
    }
    trace_builder t;
};

TEST_F(hazards, a_free_on_another_threads_default_stream) {
    write_small_program(t);
    auto const scene = of_rule(findings::rule::ptds_cross_thread_free);
    ASSERT_TRUE(scene);
    EXPECT_EQ(text_of(*scene),
              "ptds-cross-thread-free: 1 buffer of one thread's default stream freed on another thread's\n"
              "  lane main thread\n"
              "  lane worker (101)\n"
              "  lane default stream of main thread\n"
              "  lane default stream of worker (101)\n"
              "  0 [default stream of main thread] allocated: cuMemAllocAsync, event 14 by main thread\n"
              "  1 [default stream of main thread] last used: cuMemsetD8Async, event 15 by main thread\n"
              "  2 [default stream of worker (101)] freed: cuMemFreeAsync, event 16 by worker (101)\n"
              "  missing 1 → 2\n");
    EXPECT_FALSE(scene->advice.empty());
    EXPECT_TRUE(is_about_order(scene->rule));
    EXPECT_FALSE(is_about_order("user-object-leak"));
}

TEST_F(hazards, much_in_between_is_left_out_and_counted) {
    constexpr int in_between = 10'000;
    write_two_streams(t, false, in_between);
    auto const scene = of_rule(findings::rule::unordered_free);
    ASSERT_TRUE(scene);
    ASSERT_TRUE(scene->missing);
    EXPECT_LE(scene->points.size(), 24u);
    std::uint64_t left_out = 0;
    for (auto const& gap : scene->gaps) left_out += gap.calls;
    EXPECT_EQ(scene->points.size() + left_out, in_between + 4u);  // from the allocation to the free
    EXPECT_EQ(scene->points.front().role, "allocated");
    EXPECT_EQ(scene->points.back().role, "freed");
    EXPECT_EQ(scene->points[scene->missing->from].role, "last used");
}

TEST_F(hazards, recorded_order_is_drawn) {
    write_two_streams(t, true, 2);
    auto const trace = store::trace::open(t.finish());
    hazard_request asked;
    asked.rule = "unordered-free";
    asked.sites = {{"allocated", store::event_id{4}}, {"freed", store::event_id{10}}};
    auto const scene = build_hazard(trace, asked);
    ASSERT_EQ(scene->edges.size(), 1u);
    EXPECT_EQ(scene->points[scene->edges[0].from].deed, deed::record);
    EXPECT_EQ(scene->points[scene->edges[0].to].deed, deed::wait);
    EXPECT_EQ(scene->points[scene->edges[0].to].name, "cuStreamWaitEvent");
}

TEST_F(hazards, sites_that_are_not_there) {
    write_two_streams(t, true, 2);
    auto const trace = store::trace::open(t.finish());
    hazard_request asked;
    asked.sites = {{"freed", store::event_id{4711}}};
    EXPECT_FALSE(build_hazard(trace, asked));
    asked.sites.clear();
    EXPECT_FALSE(build_hazard(trace, asked));
}

TEST_F(hazards, can_be_cancelled) {
    write_two_streams(t, false, 10);
    EXPECT_THROW(of_rule(findings::rule::unordered_free, [](double) { return false; }), cancelled);
}

}  // namespace
}  // namespace lastref::test
