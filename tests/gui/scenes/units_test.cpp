#include "gui/scenes/units.h"

#include <gtest/gtest.h>

namespace lastref::test {
namespace {

using namespace gui::scenes;

std::string texts(time_axis const& axis) {
    std::string out = axis.base + ":";
    for (auto const& tick : axis.ticks) out += " " + tick.text;
    return out;
}

std::string texts(std::vector<value_tick> const& ticks) {
    std::string out;
    for (auto const& tick : ticks) out += tick.text + " ";
    return out;
}

constexpr store::time_ns s = 1'000'000'000;

TEST(units, times_take_the_unit_of_their_step) {
    EXPECT_EQ(texts(time_ticks(0, 10 * s, 5)), ": 0 s 2 s 4 s 6 s 8 s 10 s");
    EXPECT_EQ(texts(time_ticks(0, 2 * s, 4)), ": 0 ms 500 ms 1000 ms 1500 ms 2000 ms");
    EXPECT_EQ(texts(time_ticks(0, 900, 3)), ": 0 ns 500 ns");
}

TEST(units, close_ticks_count_from_a_base) {
    EXPECT_EQ(texts(time_ticks(12 * s + 345'000'100, 12 * s + 345'000'900, 4)),
              "12.345 s: +200 ns +400 ns +600 ns +800 ns");
    EXPECT_EQ(texts(time_ticks(100 * s, 100 * s + 30'000'000, 3)), "100 s: +0 ms +10 ms +20 ms +30 ms");
}

TEST(units, lengths) {
    EXPECT_EQ(length_text(0), "0 ns");
    EXPECT_EQ(length_text(5'000'000), "5 ms");
    EXPECT_EQ(length_text(1'118'234'567), "1.118 s");
    EXPECT_EQ(length_text(123'456), "123.5 µs");
}

TEST(units, no_range_no_ticks) {
    EXPECT_TRUE(time_ticks(5, 5, 4).ticks.empty());
    EXPECT_TRUE(time_ticks(5, 9, 0).ticks.empty());
}

TEST(units, never_more_ticks_than_asked_for) {
    for (store::time_ns length = 1; length < 100 * s; length = length * 3 + 1)
        for (int most = 1; most < 12; ++most) EXPECT_LE(time_ticks(7, 7 + length, most).ticks.size(), most + 1u);
}

TEST(units, bytes_step_by_powers_of_two) {
    EXPECT_EQ(texts(value_ticks(7 << 20, unit::bytes, 4)), "0 2 MiB 4 MiB 6 MiB 8 MiB ");
    EXPECT_EQ(texts(value_ticks(12'345, unit::count, 4)), "0 5,000 10,000 15,000 ");
    EXPECT_EQ(texts(value_ticks(0, unit::count, 4)), "0 1 ");
}

}  // namespace
}  // namespace lastref::test
