// The order rule of docs/adr/0002-order.md: rows are in order of time although records arrive late, and where that
// cannot be kept up it is counted.
#include <gtest/gtest.h>

#include <thread>

#include "collector/drain/clock_map.h"
#include "collector/drain/folder_drain.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using hooks::abi;
using strings = std::vector<std::string>;

constexpr std::uint64_t start = 1'000'000'000;
constexpr std::uint64_t millisecond = 1'000'000, second = 1'000'000'000;

struct order_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::filesystem::path spool = folder / "999999999-1.spool";

    strings objects() { return rows(trace, "SELECT object FROM event ORDER BY id"); }
};

TEST_F(order_test, a_free_counts_from_its_begin_and_an_allocation_from_its_end) {
    {
        spool_writer writer(spool);
        auto const one = writer.thread(1), other = writer.thread(2);
        // The address is free from some instant within the free on; the other thread gets it before that call has
        // returned.
        one->call(make_call({.api = abi::cuMemFreeAsync, .begin = start + 100, .duration = 1000, .object = 1}));
        other->call(make_call({.api = abi::cuMemAllocAsync, .begin = start + 50, .duration = 150, .object = 2}));
        other->call(make_call({.api = abi::cuMemAllocAsync, .begin = start + 60, .duration = 30, .object = 3}));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(objects(), (strings{"3", "1", "2"}));
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(order_test, a_call_that_blocks_for_seconds_stands_where_it_began) {
    {
        spool_writer writer(spool);
        auto const one = writer.thread(1), other = writer.thread(2);
        call_facts destroy{.api = abi::cuStreamDestroy_v2, .begin = start + 100, .duration = 7 * second, .object = 1};
        one->open(make_call(destroy));
        for (unsigned i = 0; i < 3; ++i)
            other->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + (i + 1) * second, .object = 2 + i}));
        destroy.result = 4;
        one->close(make_call(destroy));
        other->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 8 * second, .object = 5}));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(objects(), (strings{"1", "2", "3", "4", "5"}));
    // Longer than 2^31 ticks, durations are kept to within 65536 of them.
    EXPECT_NEAR(static_cast<double>(number(trace, "SELECT duration FROM event WHERE object = 1")), 7e9, 65536);
    EXPECT_EQ(number(trace, "SELECT result FROM event WHERE object = 1"), 4);
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(order_test, open_calls_nest) {
    {
        spool_writer writer(spool);
        auto const one = writer.thread(1);
        call_facts const outer{.api = abi::cuCtxDestroy_v2, .begin = start + 100, .duration = 500, .object = 1};
        call_facts const callback{
            .api = abi::callback_user_object, .begin = start + 200, .duration = 100, .object = 2, .depth = 1};
        call_facts const left{
            .api = abi::callback_user_object, .begin = start + 400, .duration = 0, .object = 3, .depth = 1};
        one->open(make_call(outer));
        one->open(make_call(callback));
        one->close(make_call(callback));
        one->open(make_call(left));  // left by a jump: it never ends
        one->close(make_call(outer));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT object, duration FROM event ORDER BY id"), (strings{"1|500", "2|100", "3|-"}));
}

TEST_F(order_test, a_close_without_its_open_is_a_row_and_counted) {
    {
        spool_writer writer(spool);
        writer.thread(1)->close(
            make_call({.api = abi::cuCtxDestroy_v2, .begin = start + 100, .duration = 500, .object = 1}));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT object, duration FROM event"), (strings{"1|500"}));
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), (strings{"late_records|1"}));
}

TEST_F(order_test, calls_in_which_the_process_died_have_no_end) {
    {
        spool_writer writer(spool);
        auto const in_destroy = writer.thread(1), in_copy = writer.thread(2), in_free = writer.thread(3),
                   outside = writer.thread(4), just_left = writer.thread(5);
        auto const dies_in = [](thread_writer& thread, abi api, std::uint64_t begin) {
            thread.slot().call_api.store(static_cast<std::uint32_t>(api) + 1);
            thread.slot().call_begin.store(begin);
        };
        in_destroy->open(make_call({.api = abi::cuCtxDestroy_v2, .begin = start + 100, .object = 1}));
        dies_in(*in_destroy, abi::cuCtxDestroy_v2, start + 100);
        in_copy->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .object = 2}));
        dies_in(*in_copy, abi::cuMemcpyHtoD_v2, start + 110);
        dies_in(*in_free, abi::cuMemFreeAsync, start + 50);
        outside->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 200, .object = 3}));
        // Its record is there already; it had not come to say so.
        just_left->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 300, .object = 4}));
        dies_in(*just_left, abi::cuMemAlloc_v2, start + 300);
        writer.header().last_clock.ticks = writer.header().last_clock.monotonic_ns = start + 1000;
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(
        rows(
            trace,
            "SELECT name, event.object, begin, duration, result FROM event JOIN api ON api.id = api ORDER BY event.id"),
        (strings{"cuMemAlloc|2|10|10|0", "cuMemFreeAsync|0|50|-|-", "cuCtxDestroy|1|100|-|-", "cuMemAlloc|3|200|10|0",
                 "cuMemAlloc|4|300|10|0", "cuMemcpyHtoD|0|110|-|-"}));
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(order_test, processes_are_merged_by_time) {
    for (unsigned p = 0; p < 3; ++p) {
        spool_options options;
        options.pid -= p;
        options.clock = spool::clock_kind::monotonic_ns;
        spool_writer writer(folder / (std::to_string(options.pid) + "-1.spool"), options);
        auto const one = writer.thread(options.pid);
        for (unsigned i = 0; i < 2000; ++i)
            one->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 1000 + i * 30 + p * 10, .duration = 1}));
    }
    EXPECT_EQ(drain_folder(folder.path(), trace).counts.processes, 3u);
    EXPECT_EQ(number(trace,
                     "SELECT count(*) FROM (SELECT begin, lag(begin) OVER (ORDER BY id) AS before FROM event) WHERE "
                     "begin < before"),
              0);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event"), 6000);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM loss"), 0);
}

// More records than the drain holds at once, of threads that are far apart in time.
TEST_F(order_test, a_backlog_is_merged_in_pieces) {
    constexpr unsigned calls = 100'000;
    {
        spool_writer writer(spool);
        auto const dense = writer.thread(1), sparse = writer.thread(2);
        for (unsigned i = 0; i < calls; ++i)
            dense->call(
                make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10 + i * 10, .duration = 5, .object = 1}));
        for (unsigned i = 0; i < calls; ++i)
            sparse->call(
                make_call({.api = abi::cuMemFree_v2, .begin = start + 13 + i * 1000, .duration = 5, .object = 2}));
    }
    drain_folder(folder.path(), trace, {.records_ahead = 5000});
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event"), 2 * calls);
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_EQ(number(trace, "SELECT count(*) FROM loss"), 0);
}

// Of this very process, so that the drain takes it for alive.
struct live_order_test : order_test {
    spool_options options = [] {
        spool_options mine = options_of_this_process();
        mine.first_ticks -= 10 * second;  // begun ten seconds ago
        mine.first_ns -= 10 * second;
        return mine;
    }();
    spool_writer writer{folder / (std::to_string(options.pid) + "-" + std::to_string(options.process_start) + ".spool"),
                        options};
    drain::trace_claim claim{trace, drain::trace_claim::existing::refuse};
    drain::trace_file file{claim};
    drain::folder_drain drain{folder.path(), file};
    std::unique_ptr<thread_writer> slow = writer.thread(this_thread_id()), fast = writer.thread(this_thread_id());

    static std::uint64_t now() { return drain::read_clocks(spool::clock_kind::monotonic_ns).ticks; }
    void pass_after(std::chrono::milliseconds wait) {
        std::this_thread::sleep_for(wait);
        drain.pass();
    }
    std::int64_t late() {
        return number(trace, "SELECT coalesce(sum(count), 0) FROM loss WHERE name = 'late_records'");
    }
};

using std::chrono::milliseconds;

TEST_F(live_order_test, nothing_is_written_past_a_release_under_way) {
    std::uint64_t const begin = now();
    slow->slot().order_hold.store(begin);
    fast->call(make_call({.api = abi::cuMemAllocAsync, .begin = begin + 10, .duration = 10, .object = 2}));
    fast->call(make_call({.api = abi::cuMemAllocAsync, .begin = begin - 20, .duration = 10, .object = 1}));
    pass_after(milliseconds(50));
    EXPECT_EQ(objects(), strings{"1"}) << "what came before it need not wait";
    slow->call(make_call({.api = abi::cuMemFreeAsync, .begin = begin, .duration = 50 * millisecond, .object = 7}));
    slow->slot().order_hold.store(0);
    pass_after(milliseconds(50));
    EXPECT_EQ(objects(), (strings{"1", "7", "2"}));
    EXPECT_EQ(late(), 0);
}

TEST_F(live_order_test, a_release_under_way_for_too_long_is_not_waited_for_and_counted) {
    std::uint64_t const begin = now() - 3 * second;
    slow->slot().order_hold.store(begin);
    fast->call(make_call({.api = abi::cuMemAllocAsync, .begin = begin + second / 2, .duration = 10, .object = 2}));
    pass_after(milliseconds(5));
    EXPECT_EQ(objects(), strings{"2"});
    slow->call(make_call({.api = abi::cuMemFreeAsync, .begin = begin, .duration = 10, .object = 7}));
    slow->slot().order_hold.store(0);
    pass_after(milliseconds(5));
    EXPECT_EQ(objects(), (strings{"2", "7"}));
    EXPECT_EQ(late(), 1);
}

// Its end stamp may be taken and its record not yet published; the drain cannot know, and waits for a while.
TEST_F(live_order_test, a_call_seen_under_way_holds_others_back_for_a_moment) {
    drain.pass();
    slow->slot().call_api.store(static_cast<std::uint32_t>(abi::cuMemAllocAsync) + 1);
    slow->slot().call_begin.store(now() - 5 * second);  // of the last stamp: it took none at its begin
    std::uint64_t const begin = now();
    fast->call(make_call({.api = abi::cuMemAllocAsync, .begin = begin, .duration = 10, .object = 2}));
    pass_after(milliseconds(3));
    EXPECT_EQ(objects(), strings{});
    slow->call(make_call({.api = abi::cuMemAllocAsync, .begin = begin - 10, .duration = 0, .object = 1}));
    slow->slot().call_begin.store(0);
    pass_after(milliseconds(3));
    EXPECT_EQ(objects(), (strings{"1", "2"}));
    EXPECT_EQ(late(), 0);
}

TEST_F(live_order_test, a_call_that_stays_in_the_driver_does_not_hold_others_back) {
    slow->slot().call_api.store(static_cast<std::uint32_t>(abi::cuStreamSynchronize) + 1);
    slow->slot().call_begin.store(now());
    fast->call(make_call({.api = abi::cuMemAllocAsync, .begin = now(), .duration = 10, .object = 2}));
    pass_after(milliseconds(3));
    EXPECT_EQ(objects(), strings{});
    pass_after(milliseconds(300));
    EXPECT_EQ(objects(), strings{"2"});
}

TEST_F(live_order_test, a_call_that_has_begun_is_in_the_trace_before_it_ends) {
    slow->open(make_call({.api = abi::cuCtxDestroy_v2, .begin = now(), .object = 1}));
    pass_after(milliseconds(5));
    EXPECT_EQ(rows(trace, "SELECT object, duration FROM event"), strings{"1|-"});
}

}  // namespace
}  // namespace lastref::test
