// A drain may be killed at any instant: the next one neither loses nor repeats a record.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "collector/drain/clock_map.h"
#include "collector/drain/import.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using hooks::abi;
using strings = std::vector<std::string>;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t start = 1'000'000'000;

struct kill_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::mt19937 random{20261130};

    template <class Body>
    static pid_t in_child(Body const& body) {
        pid_t const child = fork();
        if (child == 0) {
            body();
            _exit(0);
        }
        return child;
    }
    // True where the child had ended by itself before it was killed.
    bool kill_after(pid_t child, microseconds delay) {
        std::this_thread::sleep_for(delay);
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status);
    }
    microseconds some_time(unsigned most_us) {
        return microseconds(std::uniform_int_distribution<unsigned>(0, most_us)(random));
    }
};

// Every record that a thread can write, numbered so that a missing or a second one shows.
void write_all_kinds(thread_writer& me, std::uint64_t base, unsigned calls, unsigned thread) {
    me.text(spool::text_kind::setting_error, std::string(6000, static_cast<char>('a' + thread)), 900);
    me.module("/lib/" + std::to_string(thread) + ".so", 0x1000 * (thread + 1), 0x1000 * (thread + 2));
    for (unsigned i = 0; i < calls; ++i) {
        std::uint64_t const at = base + i * 100 + thread;
        if (i % 7 == 0) {
            auto const stack = me.stack({0x1000 * (thread + 1) + 5, i % 50 + 1});
            me.call(make_call({.api = abi::cuMemAlloc_v2, .begin = at, .duration = 30, .object = i, .stack = stack}));
        } else if (i % 7 == 1) {
            call_facts const destroy{.api = abi::cuMemFree_v2, .begin = at, .duration = 40, .object = i};
            me.open(make_call(destroy));
            me.call(make_call({.api = abi::cuCtxSetCurrent, .begin = at + 10, .duration = 5, .object = 0, .depth = 1}));
            me.close(make_call(destroy));
        } else {
            me.call(make_call({.api = abi::cuMemFreeAsync, .begin = at, .duration = 50, .object = i}));
        }
        if (i % 1000 == 999) me.phase(spool::phase::driver_found, at + 60);
    }
}

void expect_all_kinds(std::filesystem::path const& trace, unsigned threads, unsigned calls) {
    auto const all = static_cast<std::int64_t>(threads) * calls;
    std::string const numbered = "FROM event JOIN api ON api.id = api WHERE name <> 'cuCtxSetCurrent'";
    EXPECT_EQ(number(trace, "SELECT count(*) " + numbered), all);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM (SELECT DISTINCT thread, event.object " + numbered + ")"), all);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event WHERE duration IS NULL"), 0);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM thread"), threads);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM note"), threads);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT text) FROM note WHERE length(text) = 6000"), threads);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM module"), threads);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM phase"), static_cast<std::int64_t>(threads) * (calls / 1000));
    EXPECT_EQ(number(trace, "SELECT count(*) FROM stack"), static_cast<std::int64_t>(threads) * 50);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM (SELECT DISTINCT process, address FROM frame)"),
              number(trace, "SELECT count(*) FROM frame"));
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), strings{});
    EXPECT_EQ(rows(trace, "SELECT end, spool FROM process"), strings{"abrupt|-"});
    EXPECT_EQ(number(trace, "SELECT count(*) FROM spool_progress"), 0);
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(kill_test, import_after_kills_of_the_import) {
    constexpr unsigned threads = 4, calls = 40'000;
    {
        spool_writer writer(folder / "999999999-1.spool");
        for (unsigned t = 0; t < threads; ++t) write_all_kinds(*writer.thread(100 + t), start + 1000, calls, t);
    }
    drain::drain_limits const often{.records_ahead = 8192};  // many transactions to be killed between and inside
    int kills = 0;
    bool done = false;
    while (!done && kills < 40) {
        done = kill_after(in_child([&] { drain_folder(folder.path(), trace, often); }), some_time(250'000));
        kills += !done;
    }
    if (!done) drain_folder(folder.path(), trace);
    EXPECT_GT(kills, 0) << "nothing was tested";
    expect_all_kinds(trace, threads, calls);
    EXPECT_FALSE(std::filesystem::exists(folder / "999999999-1.spool"));
}

// A process writes while its drains are killed one after the other; segments are recycled meanwhile.
TEST_F(kill_test, drains_of_a_live_process) {
    constexpr unsigned calls = 30'000;
    pid_t const program = in_child([&] {
        spool_options options = options_of_this_process();
        spool_writer writer(
            folder / (std::to_string(options.pid) + "-" + std::to_string(options.process_start) + ".spool"), options);
        auto const me = writer.thread(options.pid);
        for (unsigned i = 0; i < calls; ++i) {
            std::uint64_t const now = drain::read_clocks(spool::clock_kind::monotonic_ns).ticks;
            me->call(make_call({.api = abi::cuMemAlloc_v2, .begin = now, .duration = 1, .object = i}));
            if (i % 50 == 0) std::this_thread::sleep_for(milliseconds(1));
        }
        writer.end_clean();
    });
    int kills = 0;
    int status = 0;
    while (waitpid(program, &status, WNOHANG) == 0) {
        pid_t const drain =
            in_child([&] { drain::drain_detached(folder.path(), trace, static_cast<std::uint32_t>(program)); });
        kills += !kill_after(drain, some_time(60'000));
    }
    drain_folder(folder.path(), trace);
    EXPECT_GT(kills, 3);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event"), calls);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT object) FROM event"), calls);
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), strings{});
    EXPECT_EQ(rows(trace, "SELECT end, spool FROM process"), strings{"clean|-"});
    EXPECT_EQ(broken_rule(trace), "");
}

// A drain that is killed while it moves a segment leaves the original beside the copy. The thread ends and is forgotten
// long before the process: what was left is still no lost segment.
TEST_F(kill_test, the_original_of_a_moved_segment_is_not_read_again) {
    constexpr unsigned calls = 3000;
    pid_t const program = in_child([&] {
        spool_options options = options_of_this_process();
        spool_writer writer(
            folder / (std::to_string(options.pid) + "-" + std::to_string(options.process_start) + ".spool"), options);
        auto const me = writer.thread(options.pid);
        std::uint64_t const now = drain::read_clocks(spool::clock_kind::monotonic_ns).ticks;
        for (unsigned i = 0; i < calls; ++i)
            me->call(make_call({.api = abi::cuMemAlloc_v2, .begin = now, .duration = 1, .object = i}));
        std::uint32_t const left = spool::grow(writer.base(), writer.fd(), options.max_bytes);
        std::memcpy(static_cast<void*>(&writer.segment(left)), &writer.segment(1), spool::segment_size);
        me->end();
        auto const unused = static_cast<std::uint32_t>(spool::thread_state::unused);
        for (int i = 0; i < 10'000 && me->slot().state.load() != unused; ++i)
            std::this_thread::sleep_for(milliseconds(1));
        writer.end_clean();
    });
    pid_t const drain =
        in_child([&] { drain::drain_detached(folder.path(), trace, static_cast<std::uint32_t>(program)); });
    waitpid(program, nullptr, 0);
    waitpid(drain, nullptr, 0);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event"), calls);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT object) FROM event"), calls);
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), strings{});
}

TEST_F(kill_test, a_reader_brings_in_what_a_killed_drain_has_left) {
    {
        spool_writer writer(folder / "999999999-1.spool");
        write_all_kinds(*writer.thread(1), start + 1000, 5000, 0);
    }
    {  // as a drain that was killed at its very beginning
        drain::trace_claim claim(trace, drain::trace_claim::existing::refuse);
        drain::trace_file file(claim);
        file.start_at(static_cast<std::int64_t>(start), 0);
        file.set_meta("spool_folder", folder.path().string());
        EXPECT_TRUE(drain::import_rest(trace, {})->busy) << "somebody is at it";
    }
    auto const imported = drain::import_rest(trace, {});
    ASSERT_TRUE(imported);
    EXPECT_FALSE(imported->busy);
    expect_all_kinds(trace, 1, 5000);
    EXPECT_EQ(rows(trace, "SELECT key FROM meta WHERE key = 'spool_folder'"), strings{});
    EXPECT_FALSE(drain::import_rest(trace, {})) << "nothing is left to do";
}

}  // namespace
}  // namespace lastref::test
