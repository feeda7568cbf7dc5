// The scenes of the demo, recorded on the simulated driver: what they say must agree with the report and with each
// other.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "analyzer/detectors/analysis.h"
#include "gui/scenes/curves.h"
#include "gui/scenes/flame.h"
#include "gui/scenes/hazard.h"
#include "gui/scenes/holders.h"
#include "gui/scenes/shutdown.h"
#include "gui/scenes/timeline_builder.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

class demo : public ::testing::Test {
  protected:
    void SetUp() override {
        auto const* path = std::getenv("LASTREF_DEMO_TRACE");
        if (path == nullptr || *path == '\0') GTEST_SKIP() << "LASTREF_DEMO_TRACE names no trace";
        trace_.emplace(store::trace::open(path));
    }
    store::trace const& trace() const { return *trace_; }
    findings::analysis const& report() {
        if (!report_) report_ = detectors::analyse(trace());
        return *report_;
    }

  private:
    std::optional<store::trace> trace_;
    std::optional<findings::analysis> report_;
};

TEST_F(demo, every_call_is_on_its_threads_track) {
    auto const scene = build_timeline(trace());
    std::size_t on_threads = 0;
    for (auto const& t : scene->tracks())
        if (t.kind == track_kind::thread) on_threads += t.entries.size();
    EXPECT_EQ(scene->spans().size(), report().events);
    EXPECT_EQ(on_threads, report().events);
}

TEST_F(demo, default_streams_of_threads_are_tracks_of_their_own) {
    std::set<std::string> names;
    auto const scene = build_timeline(trace());
    for (auto const& t : scene->tracks()) {
        EXPECT_TRUE(names.insert(t.name).second || t.kind == track_kind::thread) << t.name << " twice";
        bool const named = t.name.starts_with("default stream of ");
        EXPECT_EQ(named, t.kind == track_kind::per_thread_stream) << t.name;
    }
    EXPECT_GE(scene->tracks().size(), 8u);
}

TEST_F(demo, the_curve_of_payloads_ends_with_those_that_have_holders) {
    auto const charts = build_curves(trace());
    auto const stories = build_payload_stories(trace());
    std::uint64_t outstanding = 0;
    for (std::size_t i = 0; i < stories->payloads().size(); ++i) {
        auto const story = stories->story(i);
        if (story->destructor_at) {
            EXPECT_EQ(story->references_at(story->end), 0) << story->verdict();
            continue;
        }
        ++outstanding;
        EXPECT_GT(story->references_at(story->end), 0) << story->verdict();
        EXPECT_NE(story->verdict().find("left at the end, held by"), std::string::npos) << story->verdict();
    }
    EXPECT_GT(outstanding, 0u);  // the demo leaks one
    EXPECT_EQ(charts->payloads.lines.at(0).steps().back().value, outstanding);
}

TEST_F(demo, three_ways_to_what_is_left_agree) {
    auto const charts = build_curves(trace());
    auto const history = build_allocation_history(trace());
    auto const left = build_flame(*history, {flame_moment::end, 0, flame_order::callers_first, flame_side::both},
                                  [](store::stack_id) { return std::vector<std::string>{"f"}; });
    std::uint64_t at_end = 0, at_shutdown = 0;
    for (auto const& line : charts->memory.lines) at_end += line.empty() ? 0 : line.steps().back().value;
    for (auto const& p : build_shutdown(trace())->processes) at_shutdown += p.left_bytes;
    EXPECT_EQ(left->nodes[0].bytes, at_end);
    EXPECT_EQ(at_shutdown, at_end);
    EXPECT_GT(at_end, 0u);
    auto const peak = build_flame(*history, {}, [](store::stack_id) { return std::vector<std::string>{"f"}; });
    EXPECT_EQ(peak->nodes[0].bytes, history->peak_bytes());
    EXPECT_EQ(charts->memory.lines.at(0).greatest(), history->peak_bytes());
}

TEST_F(demo, the_planted_race_has_its_missing_order) {
    int races = 0;
    for (auto const& found : report().found) {
        auto const asked = request_of(found);
        if (!is_about_order(asked.rule)) continue;
        auto const scene = build_hazard(trace(), asked);
        ASSERT_TRUE(scene) << found.title;
        if (found.rule != findings::rule::ptds_cross_thread_free) continue;
        ++races;
        ASSERT_TRUE(scene->missing);
        auto const &from = scene->points[scene->missing->from], &to = scene->points[scene->missing->to];
        EXPECT_EQ(scene->lanes[from.lane].kind, lane_kind::per_thread_stream);
        EXPECT_EQ(scene->lanes[to.lane].kind, lane_kind::per_thread_stream);
        EXPECT_NE(from.lane, to.lane);
        EXPECT_EQ(to.role, "freed");
    }
    EXPECT_GT(races, 0);
}

TEST_F(demo, the_refused_release_stands_behind_the_drivers_shutdown) {
    auto const scene = build_shutdown(trace());
    bool seen = false;
    for (auto const& p : scene->processes)
        for (auto const& phase : p.phases)
            for (auto const& item : phase.failed)
                seen |=
                    phase.step == shutdown_step::after_driver && item.how.find("DEINITIALIZED") != std::string::npos;
    EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace lastref::test
