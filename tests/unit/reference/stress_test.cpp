// The queue under many producers. What it must keep is checked item by item in stress.h.
#include "stress.h"

#include <gtest/gtest.h>

#include <iostream>

namespace lastref::reference::testing {
namespace {

// A sanitizer costs about ten times the time.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int items_per_producer = 63'000;
#else
constexpr int items_per_producer = 125'000;
#endif

void expect_kept(stress_plan plan) {
    queue_stress stress(plan);
    auto const result = stress.run();
    EXPECT_EQ(result.fault, "");
    std::cout << result.cleaned << " cleaned, " << result.leaked << " leaked, " << result.counts.wakeups
              << " wake-ups, " << result.counts.refusals << " refused, " << result.counts.drains << " batches\n";
}

TEST(queue_stress_test, millions_of_items_of_32_producers) {
    expect_kept({.producers = 32, .items_per_producer = items_per_producer});
}

TEST(queue_stress_test, few_producers_and_a_queue_that_is_mostly_empty) {
    expect_kept({.producers = 2, .items_per_producer = items_per_producer / 2, .pauses_in_100 = 90});
}

TEST(queue_stress_test, most_wake_ups_refused) {
    expect_kept(
        {.producers = 8, .items_per_producer = items_per_producer / 10, .refusals_in_100 = 90, .pauses_in_100 = 30});
}

TEST(queue_stress_test, no_wake_up_refused) {
    expect_kept({.producers = 8,
                 .items_per_producer = items_per_producer / 10,
                 .refusals_in_100 = 0,
                 .declines_in_100 = 0,
                 .unscheduled_drains = false});
}

TEST(queue_stress_test, stopped_at_any_moment) {
    for (int run = 0; run < 30; ++run)
        expect_kept(
            {.producers = 8, .items_per_producer = items_per_producer / 50, .pauses_in_100 = 10, .stops = true});
}

}  // namespace
}  // namespace lastref::reference::testing
