#include "gui/scenes/curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

constexpr std::uint64_t mib = 1 << 20;

std::shared_ptr<gui::scenes::curves const> curves_of(trace_builder& t) {
    return build_curves(store::trace::open(t.finish()));
}

// --- series --------------------------------------------------------------------------------------------------------

TEST(series, holds_its_value_until_the_next_step) {
    series s("x");
    s.add(10, 1);
    s.add(20, 5);
    s.add(20, 4);  // at the same time: the later one counts
    s.add(15, 9);  // late: counts from where the series has got to
    s.add(30, 9);  // no change
    s.finish();
    EXPECT_EQ(s.value_at(9), 0u);
    EXPECT_EQ(s.value_at(10), 1u);
    EXPECT_EQ(s.value_at(19), 1u);
    EXPECT_EQ(s.value_at(1000), 9u);
    EXPECT_EQ(s.steps().size(), 2u);
    EXPECT_EQ(s.greatest(), 9u);
}

TEST(series, extents_are_those_of_all_steps_in_between) {
    std::mt19937_64 random(3);
    series s;
    std::vector<step> plain;
    for (time_ns at = 0; plain.size() < 5000; at += 1 + static_cast<time_ns>(random() % 20)) {
        plain.push_back({at, random() % 1000});
        s.add(at, plain.back().value);
    }
    s.finish();
    for (int i = 0; i < 300; ++i) {
        auto from = static_cast<time_ns>(random() % 50'000), to = static_cast<time_ns>(random() % 50'000);
        if (from > to) std::swap(from, to);
        auto least = s.value_at(from), most = least;
        for (auto const& p : plain) {
            if (p.at <= from || p.at > to) continue;
            least = std::min(least, p.value);
            most = std::max(most, p.value);
        }
        std::size_t looked_at = 0;
        auto const got = s.over(from, to, &looked_at);
        EXPECT_EQ(got.least, least) << from << " " << to;
        EXPECT_EQ(got.greatest, most) << from << " " << to;
        EXPECT_LE(looked_at, 130u);
    }
}

TEST(series, thinning_keeps_peaks_and_the_end) {
    series s;
    for (time_ns at = 0; at < 1'000'000; ++at) s.add(at * 1000, at == 123'456 ? 99'999 : at % 7);
    s.finish();
    EXPECT_LE(s.steps().size(), series::most_steps);
    EXPECT_GT(s.thinned(), 0);
    EXPECT_EQ(s.over(0, 1'000'000'000).greatest, 99'999u);
    EXPECT_EQ(s.over(0, 1'000'000'000).least, 0u);
    EXPECT_EQ(s.value_at(2'000'000'000), 999'999u % 7);
    EXPECT_TRUE(std::is_sorted(s.steps().begin(), s.steps().end(), [](auto a, auto b) { return a.at < b.at; }));
}

// --- charts --------------------------------------------------------------------------------------------------------

TEST(curves, small_program) {
    trace_builder t;
    write_small_program(t);
    expect_golden(text_of(*curves_of(t)), "curves.txt");
}

TEST(curves, pools_with_what_the_driver_says) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x1000, .size = mib});
    main.call("cuDeviceGetDefaultMemPool", {.object = 0xd0});
    main.call("cuMemPoolSetAttribute", {.object = 0xd0, .size = 4 * mib, .extra = 4});
    main.call("cuMemPoolGetAttribute", {.object = 0xd0, .size = 32 * mib, .extra = 5});
    main.call("cuMemPoolGetAttribute", {.object = 0xd0, .size = 1, .extra = 1});  // a setting: no curve
    main.call("cuMemAllocFromPoolAsync", {.stream = 0x50, .object = 0x2000, .other = 0xe0, .size = 2 * mib});
    main.call("cuMemFreeAsync", {.stream = 0x50, .object = 0x1000});
    auto const scene = curves_of(t);
    ASSERT_EQ(scene->pools.size(), 2u);
    EXPECT_EQ(text_of(scene->pools[0]),
              "pool 0xd0, 1 to 7.002 ms\n"
              "  used: 1 MiB at 1.002 ms, 0 at 7 ms\n"
              "  reserved: 32 MiB at 4.002 ms\n"
              "  release threshold: 4 MiB at 3.002 ms\n");
    EXPECT_EQ(scene->pools[1].title, "pool 0xe0");
    EXPECT_EQ(scene->pools[1].greatest(), 2 * mib);
}

TEST(curves, many_payloads_wait_and_are_cleaned_up) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context()).in({"attach", "main"});
    for (std::uint64_t i = 0; i < 4; ++i) {
        main.call("cuMemAlloc_v2", {.object = 0x1000 + i * 0x1000, .size = 0x1000});
        main.call("cuUserObjectCreate", {.object = 0xa0 + i, .other = 0x1000 + i * 0x1000, .size = 1});
    }
    for (std::uint64_t i = 0; i < 4; ++i) main.call("cuUserObjectRelease", {.object = 0xa0 + i, .size = 1});
    for (std::uint64_t i = 0; i < 4; ++i) main.destructor(0xa0 + i, 0x1000 + i * 0x1000);
    t.wait_ms(100);
    for (std::uint64_t i = 0; i < 3; ++i) main.call("cuMemFree_v2", {.object = 0x1000 + i * 0x1000});
    auto const scene = curves_of(t);
    EXPECT_EQ(scene->payloads.greatest(), 4u);
    EXPECT_EQ(scene->backlog.greatest(), 4u);
    EXPECT_EQ(scene->backlog.lines[0].steps().back().value, 1u);
    EXPECT_EQ(scene->backlog_bytes.lines[0].steps().back().value, 0x1000u);
    EXPECT_EQ(scene->clean_up.count, 3u);
    EXPECT_FALSE(scene->clean_up.inferred);
    ASSERT_EQ(scene->clean_up.bins.size(), 1u);
    EXPECT_EQ(scene->clean_up.bins[0].from, 100'000'000);
}

TEST(curves, histograms_have_no_gaps) {
    auto const h = histogram_of("x", {1, 1, 5'000, 999'999'999});
    EXPECT_EQ(h.count, 4u);
    EXPECT_EQ(h.bins.front().from, 1);
    EXPECT_EQ(h.bins.front().count, 2u);
    EXPECT_EQ(h.bins.back().to, 1'000'000'000);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < h.bins.size(); ++i) {
        sum += h.bins[i].count;
        EXPECT_EQ(h.bins[i].from, i > 0 ? h.bins[i - 1].to : 1);
    }
    EXPECT_EQ(sum, 4u);
    EXPECT_TRUE(histogram_of("x", {}).bins.empty());
    EXPECT_EQ(histogram_of("x", {0, -5}).bins.size(), 1u);
}

}  // namespace
}  // namespace lastref::test
