// Ticks become nanoseconds: in order, continuously, and never on the word of a pair that cannot be true.
#include "collector/drain/clock_map.h"

#include <gtest/gtest.h>

namespace lastref::drain {
namespace {

using spool::clock_kind;

TEST(clock_map, interpolates_between_pairs) {
    clock_map map(clock_kind::tsc, {1000, 5000});
    ASSERT_TRUE(map.add({3000, 6000}));
    ASSERT_TRUE(map.add({4000, 8000}));
    EXPECT_EQ(map.ns(1000), 5000u);
    EXPECT_EQ(map.ns(2000), 5500u);
    EXPECT_EQ(map.ns(3500), 7000u);
    EXPECT_EQ(map.ns(4500), 9000u) << "beyond the last pair at its rate";
    EXPECT_EQ(map.ticks(7000), 3500u);
    EXPECT_EQ(map.ticks(5500), 2000u);
}

TEST(clock_map, what_was_mapped_stays_when_pairs_come) {
    clock_map map(clock_kind::tsc, {1000, 5000});
    map.add({3000, 6000});
    auto const before = map.ns(2900);
    map.add({3100, 6900});
    EXPECT_EQ(map.ns(2900), before);
}

TEST(clock_map, refuses_pairs_that_contradict) {
    clock_map map(clock_kind::tsc, {1000, 5000});
    map.add({3000, 6000});
    EXPECT_FALSE(map.add({2000, 7000}));
    EXPECT_FALSE(map.add({4000, 5500}));
    EXPECT_FALSE(map.add({3001, 900'000'000})) << "a torn pair: time stood still and then jumped";
    clock_map plain(clock_kind::monotonic_ns, {1000, 1000});
    EXPECT_FALSE(plain.add({2000, 9000}));
    EXPECT_TRUE(plain.add({2000, 2000}));
}

TEST(clock_map, never_decreases_with_many_pairs) {
    clock_map map(clock_kind::tsc, {0, 0});
    std::uint64_t ticks = 0, ns = 0;
    for (unsigned i = 1; i < 30000; ++i) {
        ticks += 1000 + i * 7919 % 400;
        ns += 400 + i * 104729 % 300;
        ASSERT_TRUE(map.add({ticks, ns}));
    }
    std::uint64_t last = 0;
    for (std::uint64_t at = 0; at < ticks; at += 777) {
        ASSERT_GE(map.ns(at), last);
        last = map.ns(at);
    }
    EXPECT_EQ(map.ns(ticks), ns);
}

TEST(clock_map, this_machine_continues_itself) {
    auto const begin = read_clocks(clock_kind::tsc);
    clock_map const map(clock_kind::tsc, begin);
    EXPECT_TRUE(map.continues(read_clocks(clock_kind::tsc)));
    EXPECT_FALSE(map.continues({begin.ticks + 1'000'000'000, begin.ns + 1'000'000'000'000}));
    EXPECT_FALSE(map.continues({begin.ticks - 1, begin.ns + 1}));
}

}  // namespace
}  // namespace lastref::drain
