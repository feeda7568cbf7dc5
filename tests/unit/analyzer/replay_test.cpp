// Payload callbacks through the reference queue, and what is observed beside it.
#include "analyzer/replay/replay.h"

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyzer/cli/commands.h"
#include "analyzer/replay/reference_run.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::replay {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t call_lasts = 2'000;  // in a built trace
constexpr auto destroy_payload = 0x4000;

// --- samples ---------------------------------------------------------------------------------------------------------

TEST(replay_samples, nearest_rank) {
    samples s;
    EXPECT_FALSE(s.summary());
    for (int i = 200; i > 0; --i) s.add(i);
    auto const all = s.summary().value();
    EXPECT_EQ(all.count, 200u);
    EXPECT_EQ(all.median, 100);
    EXPECT_EQ(all.p99, 198);
    EXPECT_EQ(all.max, 200);
    samples one;
    one.add(7);
    EXPECT_EQ(one.summary()->median, 7);
    EXPECT_EQ(one.summary()->p99, 7);
    samples three;
    for (int const i : {5, 1, 3}) three.add(i);
    EXPECT_EQ(three.summary()->median, 3);
    EXPECT_EQ(three.summary()->p99, 5);
}

TEST(replay_samples, times_of_a_damaged_trace) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(since(3, 5), 2);
    EXPECT_EQ(since(5, 3), 0);
    EXPECT_EQ(since(least, most), most);
    EXPECT_EQ(since(least, 0), most);
    EXPECT_EQ(since(most, least), 0);
}

// --- the reference's side --------------------------------------------------------------------------------------------

TEST(replay_reference, one_wake_up_and_one_drain_for_what_comes_between_two_safe_points) {
    reference_run r({});
    r.safe_point(5);
    r.callback(10);
    r.callback(20);
    r.callback(30);
    r.safe_point(100);
    r.callback(200);
    r.safe_point(250);
    auto const all = r.finish();
    EXPECT_EQ(all.safe_points, 3u);
    EXPECT_EQ(all.wakeups, 2u);
    ASSERT_TRUE(all.drains);
    EXPECT_EQ(all.drains->count, 2u);
    EXPECT_EQ(all.drains->max, 3);
    EXPECT_EQ(all.delay->count, 4u);
    EXPECT_EQ(all.delay->median, 70);
    EXPECT_EQ(all.delay->max, 90);
    EXPECT_EQ(all.most_waiting, 3u);
    EXPECT_EQ(all.left, 0u);
    EXPECT_FALSE(all.stopped);
}

TEST(replay_reference, a_safe_point_told_before_a_callback_inside_the_call_comes_after_it) {
    reference_run r({});
    r.safe_point(50);  // the call that runs the destructor is recorded by its begin
    r.callback(20);
    EXPECT_EQ(r.finish().delay->max, 30);
}

TEST(replay_reference, without_a_safe_point_everything_is_left) {
    reference_run r({});
    r.callback(1);
    r.callback(2);
    auto const all = r.finish();
    EXPECT_EQ(all.wakeups, 1u);
    EXPECT_FALSE(all.drains);
    EXPECT_FALSE(all.delay);
    EXPECT_EQ(all.left, 2u);
}

TEST(replay_reference, exit_drains_once_more_and_leaks_what_comes_later) {
    reference_run r(100);
    r.callback(40);
    r.callback(150);
    r.safe_point(160);
    auto const all = r.finish();
    EXPECT_TRUE(all.stopped);
    EXPECT_EQ(all.safe_points, 0u);
    EXPECT_EQ(all.delay->count, 1u);
    EXPECT_EQ(all.delay->max, 60);
    EXPECT_EQ(all.left, 1u);
    EXPECT_EQ(all.wakeups, 1u) << "a stopped queue wakes nobody";
}

TEST(replay_reference, what_would_be_due_after_exit_does_not_take_place) {
    reference_run r(100);
    r.callback(40);
    r.safe_point(150);
    r.callback(160);
    EXPECT_EQ(r.finish().delay->max, 60) << "the last drain, at the stop";
}

TEST(replay_reference, a_callback_at_the_instant_of_a_safe_point_waits_for_the_next) {
    reference_run r({});
    r.safe_point(20);
    r.callback(20);
    EXPECT_EQ(r.finish().left, 1u);
}

TEST(replay_reference, a_drain_that_finds_nothing_is_none) {
    reference_run r(100);
    r.callback(40);
    r.safe_point(50);
    auto const all = r.finish();
    EXPECT_TRUE(all.stopped);
    EXPECT_EQ(all.drains->count, 1u);
    EXPECT_EQ(all.drains->median, 1);
}

TEST(replay_reference, items_are_used_again) {
    reference_run r({});
    for (int i = 0; i < 100'000; ++i) {
        r.callback(2 * i);
        r.safe_point(2 * i + 1);
    }
    auto const all = r.finish();
    EXPECT_EQ(all.delay->count, 100'000u);
    EXPECT_EQ(all.delay->max, 1);
    EXPECT_EQ(all.most_waiting, 1u);
}

// --- whole traces ----------------------------------------------------------------------------------------------------

class replayed : public ::testing::Test {
  protected:
    // A user object whose payload is the memory's own address.
    void make(std::uint64_t n) {
        main.call("cuMemAlloc_v2", {.object = memory(n), .size = 1 << 20, .stack = {"make", "main"}});
        main.call("cuUserObjectCreate", {.object = n, .other = memory(n), .size = 1, .extra = destroy_payload});
    }
    static std::uint64_t memory(std::uint64_t n) { return 0x7f0000000000 + n * 0x100000; }
    void free(test::thread_builder& by, std::uint64_t n) { by.call("cuMemFree_v2", {.object = memory(n)}); }

    outcome run(consumer who = consumer::main_thread) { return replay(store::trace::open(path()), who); }
    process_replay only(consumer who = consumer::main_thread) {
        auto const all = run(who);
        EXPECT_EQ(all.processes.size(), 1u);
        return all.processes.empty() ? process_replay{} : all.processes.front();
    }
    std::filesystem::path path() {
        if (path_.empty()) path_ = t.finish();
        return path_;
    }

    test::trace_builder t;
    test::thread_builder main = t.thread("main");
    test::thread_builder driver = t.thread("driver");
    test::thread_builder cleaner = t.thread("cleaner");

    void SetUp() override {
        auto const context = t.context();
        main.use(context);
        cleaner.use(context);
    }

  private:
    std::filesystem::path path_;
};

TEST_F(replayed, drains_of_one_thread_in_one_go) {
    for (std::uint64_t n = 1; n <= 5; ++n) make(n);
    for (std::uint64_t n = 1; n <= 3; ++n) driver.destructor(n, memory(n));
    for (std::uint64_t n = 1; n <= 3; ++n) free(cleaner, n);
    cleaner.call("cuMemAlloc_v2", {.object = 0x900, .size = 8});  // no part of a clean-up
    for (std::uint64_t n = 4; n <= 5; ++n) driver.destructor(n, memory(n));
    cleaner.call("cuCtxPushCurrent_v2");
    for (std::uint64_t n = 4; n <= 5; ++n) free(cleaner, n);
    auto const p = only();
    EXPECT_EQ(p.callbacks, 5u);
    EXPECT_EQ(p.producers, 1u);
    EXPECT_EQ(p.observed.by_address, 5u);
    EXPECT_EQ(p.observed.unknown, 0u);
    EXPECT_EQ(p.observed.drains->count, 2u);
    EXPECT_EQ(p.observed.drains->max, 3);
    EXPECT_EQ(p.observed.delay->count, 5u);
    EXPECT_EQ(p.observed.delay->max, 3 * ms);
    EXPECT_EQ(p.observed.most_waiting, 3u);
    EXPECT_EQ(p.observed.left, 0u);
}

TEST_F(replayed, what_a_clean_up_does_beside_its_frees_does_not_end_it) {
    for (std::uint64_t n = 1; n <= 4; ++n) make(n);
    for (std::uint64_t n = 1; n <= 4; ++n) driver.destructor(n, memory(n));
    free(cleaner, 1);
    cleaner.call("cuStreamSynchronize");
    free(cleaner, 2);
    cleaner.call("cuCtxPushCurrent_v2");
    free(cleaner, 3);
    cleaner.call("cuStreamQuery");
    free(cleaner, 4);
    auto const p = only();
    EXPECT_EQ(p.observed.drains->count, 1u);
    EXPECT_EQ(p.observed.drains->max, 4);
}

TEST_F(replayed, a_payload_that_came_after_the_drain_began_is_of_the_next_one) {
    for (std::uint64_t n = 1; n <= 3; ++n) make(n);
    driver.destructor(1, memory(1));
    driver.destructor(2, memory(2));
    free(cleaner, 1);
    driver.destructor(3, memory(3));
    free(cleaner, 2);
    free(cleaner, 3);
    auto const p = only();
    EXPECT_EQ(p.observed.drains->count, 2u);
    EXPECT_EQ(p.observed.drains->max, 2);
}

TEST_F(replayed, a_pending_call_is_one_drain_and_a_safe_point) {
    for (std::uint64_t n = 1; n <= 4; ++n) make(n);
    driver.destructor(1, memory(1));
    driver.destructor(2, memory(2));
    driver.call("python:add_pending_call", {.object = 1, .size = 1, .extra = 0xd0, .flags = 1});
    auto const run = main.call("python:pending_call", {.object = 1, .extra = 0xd0});
    free(main, 1);
    main.call("cuMemAlloc_v2", {.object = 0x900, .size = 8});  // whatever else it calls
    driver.destructor(3, memory(3));
    free(main, 2);
    free(main, 3);  // found in the drain's next turn
    t.sql("UPDATE event SET duration = 5500000 WHERE id = " + std::to_string(run));
    driver.destructor(4, memory(4));
    free(main, 4);
    auto const p = only();
    EXPECT_EQ(p.observed.drains->count, 2u);
    EXPECT_EQ(p.observed.drains->max, 3);
    EXPECT_EQ(p.reference.delay->count, 4u);
    EXPECT_EQ(p.reference.drains->max, 2) << "the reference drains where the pending call began";
}

TEST_F(replayed, reference_polls_where_the_main_thread_calls) {
    for (std::uint64_t n = 1; n <= 4; ++n) make(n);
    for (std::uint64_t n = 1; n <= 4; ++n) driver.destructor(n, memory(n));
    main.call("cuCtxGetCurrent");
    for (std::uint64_t n = 1; n <= 4; ++n) free(cleaner, n);
    auto const p = only();
    EXPECT_EQ(p.reference.wakeups, 1u);
    EXPECT_EQ(p.reference.drains->count, 1u);
    EXPECT_EQ(p.reference.drains->max, 4);
    EXPECT_EQ(p.reference.delay->max, 4 * ms + call_lasts) << "a safe point is where the call has returned";
    EXPECT_EQ(p.observed.delay->max, 5 * ms) << "a free counts from its begin";
}

TEST_F(replayed, any_threads_calls_where_asked_for) {
    make(1);
    driver.destructor(1, memory(1));
    free(cleaner, 1);
    EXPECT_EQ(run().processes.front().reference.left, 1u);
    EXPECT_EQ(run(consumer::any_thread).processes.front().reference.left, 0u);
}

TEST_F(replayed, calls_inside_callbacks_are_no_safe_points) {
    make(1);
    driver.destructor(1, memory(1));
    main.call("cuCtxGetCurrent", {.flags = 1});
    EXPECT_EQ(only().reference.left, 1u);
}

TEST_F(replayed, calls_inside_calls_are_no_safe_points) {
    make(1);
    driver.destructor(1, memory(1));
    main.call("cuCtxGetCurrent", {.flags = store::event_flag::nested});
    EXPECT_EQ(only().reference.left, 1u);
}

TEST_F(replayed, calls_that_never_returned_are_no_safe_points) {
    make(1);
    driver.destructor(1, memory(1));
    main.call("cuCtxGetCurrent");
    t.sql("UPDATE event SET duration = NULL, result = NULL WHERE id = (SELECT max(id) FROM event)");
    EXPECT_EQ(only().reference.left, 1u);
}

TEST_F(replayed, a_payload_that_only_its_neighbour_tells) {
    main.call("cuMemAlloc_v2", {.object = memory(1), .size = 8, .stack = {"make", "main"}});
    main.call("cuUserObjectCreate",
              {.object = 1, .other = 0x1234, .size = 1, .extra = destroy_payload, .stack = {"make", "main"}});
    driver.destructor(1, 0x1234);
    free(cleaner, 1);
    auto const p = only();
    EXPECT_EQ(p.observed.by_nearness, 1u);
    EXPECT_EQ(p.observed.by_address, 0u);
}

TEST_F(replayed, what_no_payload_tells_is_not_observed) {
    main.call("cuUserObjectCreate", {.object = 1, .other = 0x1234, .size = 1, .extra = destroy_payload});
    driver.destructor(1, 0x1234);
    auto const p = only();
    EXPECT_FALSE(p.observed.known());
    EXPECT_EQ(p.observed.unknown, 1u);
    EXPECT_FALSE(p.observed.delay);
    EXPECT_EQ(p.callbacks, 1u);
}

TEST_F(replayed, left_at_shutdown) {
    make(1);
    make(2);
    driver.destructor(1, memory(1));
    t.phase("exit_begin");
    driver.destructor(2, memory(2), 8);
    auto const p = only();
    EXPECT_EQ(p.observed.left, 2u);
    EXPECT_EQ(p.observed.left_bytes, 2u << 20);
    EXPECT_FALSE(p.observed.drains);
    EXPECT_EQ(p.reference.left, 1u) << "the last drain before the stop takes the first";
    EXPECT_TRUE(p.reference.stopped);
}

TEST_F(replayed, memory_that_went_with_its_context_was_not_cleaned_up) {
    make(1);
    driver.destructor(1, memory(1));
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    auto const p = only();
    EXPECT_EQ(p.observed.gone_otherwise, 1u);
    EXPECT_FALSE(p.observed.delay);
    EXPECT_EQ(p.observed.left, 0u);
}

TEST_F(replayed, processes_stand_apart) {
    make(1);
    driver.destructor(1, memory(1));
    t.process("/build/other", 4712);
    auto other = t.thread("main");
    other.use(t.context());
    other.call("cuMemAlloc_v2", {.object = memory(1), .size = 8});
    other.call("cuMemFree_v2", {.object = memory(1)});
    auto const p = only();
    EXPECT_EQ(p.observed.left, 1u);
    EXPECT_EQ(p.reference.left, 1u) << "no safe point of another process";
}

// --- the command -----------------------------------------------------------------------------------------------------

struct result {
    int status = -1;
    std::string out, err;
};

result command(std::vector<std::string> arguments) {
    CLI::App app("lastref");
    result r;
    cli::add_replay(app, r.status);
    std::reverse(arguments.begin(), arguments.end());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    try {
        app.parse(arguments);
    } catch (CLI::ParseError const&) {
        r.status = cli::exit_usage;
    }
    r.out = ::testing::internal::GetCapturedStdout();
    r.err = ::testing::internal::GetCapturedStderr();
    return r;
}

TEST_F(replayed, text) {
    make(1);
    driver.destructor(1, memory(1));
    free(main, 1);
    auto const r = command({"replay", path().string()});
    EXPECT_EQ(r.status, cli::exit_clean) << r.err;
    for (auto const* part : {"wake-ups                              not observed      1\n",
                             "of 1 of 1 callbacks: 1 by the payload's address",
                             "waiting at one time, most             1                 1\n"})
        EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
}

TEST_F(replayed, json_says_null_for_what_is_unknown) {
    main.call("cuUserObjectCreate", {.object = 1, .other = 0x1234, .size = 1, .extra = destroy_payload});
    driver.destructor(1, 0x1234);
    main.call("cuCtxGetCurrent");
    auto const r = command({"replay", path().string(), "--format", "json"});
    auto const json = nlohmann::json::parse(r.out);
    auto const& p = json["processes"][0];
    EXPECT_TRUE(p["observed"]["wakeups"].is_null());
    EXPECT_TRUE(p["observed"]["left"].is_null());
    EXPECT_TRUE(p["observed"]["source"].is_null());
    EXPECT_EQ(p["reference"]["wakeups"], 1);
    EXPECT_EQ(p["reference"]["delay_ns"]["max"], ms + call_lasts);
}

TEST_F(replayed, no_callback_is_told) {
    main.call("cuCtxGetCurrent");
    auto const r = command({"replay", path().string()});
    EXPECT_EQ(r.status, cli::exit_clean);
    EXPECT_NE(r.out.find("there is nothing to replay"), std::string::npos) << r.out;
}

TEST_F(replayed, incomplete_trace_never_passes) {
    make(1);
    driver.destructor(1, memory(1));
    t.loss("records_dropped", 1);
    auto const r = command({"replay", path().string()});
    EXPECT_EQ(r.status, cli::exit_incomplete);
    EXPECT_NE(r.out.find("INCOMPLETE: "), std::string::npos) << r.out;
}

TEST_F(replayed, bad_input_has_one_line) {
    auto const foreign = path().parent_path() / "foreign.lastref";
    std::ofstream(foreign) << std::string(5000, 'x');
    auto const missing = command({"replay", "/nowhere/t.lastref"});
    auto const unreadable = command({"replay", foreign.string()});
    auto const unwritable = command({"replay", path().string(), "-o", "/nowhere/out"});
    EXPECT_EQ(missing.status, cli::exit_usage);
    EXPECT_EQ(unreadable.status, cli::exit_unreadable);
    EXPECT_EQ(unwritable.status, cli::exit_usage);
    for (auto const& r : {missing, unreadable, unwritable}) {
        EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
        EXPECT_EQ(r.out, "");
    }
    EXPECT_EQ(command({"replay", path().string(), "--format", "xml"}).status, cli::exit_usage);
    EXPECT_EQ(command({"replay", path().string(), "--consumer", "nobody"}).status, cli::exit_usage);
}

TEST_F(replayed, impossible_times_and_sequences_do_no_harm) {
    make(1);
    driver.destructor(1, memory(1));
    driver.destructor(1, memory(1));
    driver.destructor(77, 0);
    free(main, 1);
    t.sql("UPDATE event SET begin = 9223372036854775807, duration = 9223372036854775807 WHERE id = 2");
    t.sql("UPDATE event SET begin = -9223372036854775807 WHERE id = 4");
    auto const p = only();
    EXPECT_EQ(p.callbacks, 3u);
}

}  // namespace
}  // namespace lastref::replay
