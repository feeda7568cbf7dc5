#include "gui/scenes/timeline.h"

#include <gtest/gtest.h>

#include "gui/scenes/timeline_builder.h"
#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

std::shared_ptr<call_timeline const> timeline_of(trace_builder& t) {
    return build_timeline(store::trace::open(t.finish()));
}

std::vector<block> blocks(call_timeline const& scene, track const& t, time_ns from, time_ns to, time_ns resolution) {
    std::vector<block> out;
    scene.visit(t, from, to, resolution, [&out](block const& b) { out.push_back(b); });
    return out;
}

TEST(timeline, small_program) {
    trace_builder t;
    write_small_program(t);
    expect_golden(text_of(*timeline_of(t)), "timeline.txt");
}

TEST(timeline, calls_in_a_callback_lie_below_it) {
    trace_builder t;
    auto driver = t.thread("driver");
    driver.use(t.context());
    t.wait_ms(10);
    driver.call("cuCtxSynchronize", {});
    driver.call("cuMemFree_v2", {.object = 0x70, .flags = 1});
    driver.call("callback:host_function", {.lasts_ms = 5});
    auto const scene = timeline_of(t);
    auto const& track = scene->tracks().front();
    EXPECT_EQ(track.depth, 2);
    EXPECT_EQ(scene->at(track, 0).depth(), 0);
    EXPECT_EQ(scene->name_of(track, scene->at(track, 0)), "host function");
    EXPECT_EQ(scene->at(track, 1).depth(), 1);
}

TEST(timeline, a_call_that_never_returned_lasts_to_the_end) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    auto const event = main.call("cuCtxSynchronize", {.result = {}});
    t.sql("UPDATE event SET duration = NULL");
    t.wait_ms(50);
    t.phase("end");
    auto const scene = timeline_of(t);
    auto const& track = scene->tracks().front();
    EXPECT_TRUE(scene->at(track, 0).open());
    EXPECT_EQ(scene->end_of(scene->at(track, 0)), scene->end());
    EXPECT_EQ(scene->find(static_cast<std::uint32_t>(event))->entry, 0u);
}

TEST(timeline, lengths_are_kept_to_a_tenth_of_a_percent) {
    for (std::int64_t length = 1; length < std::int64_t{3'600'000'000'000}; length = length * 2 + length / 7 + 1) {
        span const s(0, length, 1, 0, 0, false);
        EXPECT_LE(s.length(), length);
        EXPECT_LE(static_cast<double>(length - s.length()), static_cast<double>(length) * 1e-3);
    }
    EXPECT_GT(span(0, INT64_MAX, 1, 0, 0, false).length(), std::int64_t{1} << 61);
    EXPECT_FALSE(span(0, INT64_MAX, 1, 0, 0, false).open());
}

TEST(timeline, ranges_are_a_track) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    auto const first = main.call("cuMemAlloc_v2", {.object = 0x70, .size = 10});
    t.range("suite.test", 0, first);
    auto const scene = timeline_of(t);
    auto const& track = scene->tracks().front();
    ASSERT_EQ(track.kind, track_kind::ranges);
    EXPECT_EQ(scene->name_of(track, scene->at(track, 0)), "suite.test");
    EXPECT_EQ(scene->style_of(track, scene->at(track, 0)), style::range);
}

TEST(timeline, a_trace_without_calls) {
    trace_builder t;
    auto const scene = timeline_of(t);
    EXPECT_TRUE(scene->tracks().empty());
    EXPECT_EQ(scene->begin(), scene->end());
}

TEST(timeline, building_can_be_cancelled) {
    trace_builder t;
    write_many_calls(t, 100);
    auto const trace = store::trace::open(t.finish());
    EXPECT_THROW(build_timeline(trace, [](double) { return false; }), cancelled);
}

// --- many calls ----------------------------------------------------------------------------------------------------

class many_calls : public ::testing::Test {
  protected:
    static constexpr int calls = 60'000;
    static void SetUpTestSuite() {
        trace_builder t;
        write_many_calls(t, calls);
        scene_ = timeline_of(t);
    }
    static void TearDownTestSuite() { scene_.reset(); }
    track const& main() const { return scene_->tracks().front(); }
    static std::shared_ptr<call_timeline const> scene_;
};
std::shared_ptr<call_timeline const> many_calls::scene_;

TEST_F(many_calls, take_at_most_32_bytes_each) {
    EXPECT_LE(scene_->bytes(), std::size_t{calls} * 32);
}

TEST_F(many_calls, nothing_is_left_out_and_nothing_told_twice) {
    auto const length = scene_->end() - scene_->begin();
    for (auto const pixels : {1, 10, 100, 1000, 100'000}) {
        std::size_t sum = 0;
        time_ns last = INT64_MIN;
        for (auto const& b : blocks(*scene_, main(), scene_->begin(), scene_->end(), length / pixels)) {
            sum += b.calls;
            EXPECT_GE(b.begin, last);
            EXPECT_TRUE(b.calls == 1 || b.end - b.begin <= length / pixels);
            last = b.begin;
        }
        EXPECT_EQ(sum, main().entries.size()) << pixels;
    }
}

TEST_F(many_calls, what_is_looked_at_depends_on_the_width_only) {
    auto const none = [](block const&) {};
    constexpr std::size_t pixels = 2000;
    for (auto length = scene_->end() - scene_->begin(); length > 1'000'000; length /= 3) {
        auto const from = scene_->begin() + length / 5;
        auto const seen = scene_->visit(main(), from, from + length, length / static_cast<time_ns>(pixels), none);
        EXPECT_LE(seen, pixels * call_timeline::fanout) << length;
    }
    auto const whole = scene_->visit(main(), scene_->begin(), scene_->end(), scene_->end(), none);
    EXPECT_EQ(whole, 1u);
}

TEST_F(many_calls, a_call_is_found_and_picked) {
    for (std::uint32_t event = 1; event <= calls; event += 7919) {
        auto const place = scene_->find(event);
        ASSERT_TRUE(place) << event;
        auto const& track = scene_->tracks()[place->track];
        auto const& s = scene_->at(track, place->entry);
        EXPECT_EQ(s.event(), event);
        auto const picked = scene_->pick(track, s.begin(), 1000);
        ASSERT_TRUE(picked);
        EXPECT_EQ(scene_->at(track, picked->entry).event(), event);
    }
    EXPECT_FALSE(scene_->find(calls + 1));
    EXPECT_FALSE(scene_->find(0));
}

TEST_F(many_calls, an_object_has_all_its_calls) {
    auto const place = scene_->find(1001);
    auto const object = scene_->at(scene_->tracks()[place->track], place->entry).object();
    auto const spans = scene_->spans_of(object);
    ASSERT_EQ(spans.size(), 2u);  // its allocation and its free
    EXPECT_EQ(scene_->spans()[spans[0]].event() + 1, scene_->spans()[spans[1]].event());
    EXPECT_TRUE(scene_->spans_of(0).empty());
}

}  // namespace
}  // namespace lastref::test
