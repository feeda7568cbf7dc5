// What CUPTI counted and recorded, from files that a test makes up, in the trace.
#include "collector/drain/cupti_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "schema/cupti_file.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using cupti_file::activity;
using cupti_file::activity_kind;
using hooks::abi;
using strings = std::vector<std::string>;

constexpr std::uint64_t start = 1'000'000'000;
constexpr std::uint32_t pid = 999'999'999, tid = 7;

struct cupti_files_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::filesystem::path counted = folder / "999999999-1.cupti";
    std::unique_ptr<cupti_file::header> head = std::make_unique<cupti_file::header>();
    std::vector<activity> activities;

    cupti_files_test() {
        head->magic = cupti_file::file_magic;
        head->version = cupti_file::format_version;
        head->header_bytes = cupti_file::header_bytes;
        head->pid = pid;
        head->process_start = 1;
        head->now = cupti_file::state::flushed;
        head->with_activities = 1;
    }

    // Two launches of one thread, at 1 and at 3 µs, each of 1 µs.
    void record_launches() {
        spool_writer writer(folder / "999999999-1.spool");
        auto const main = writer.thread(tid);
        for (std::uint64_t const at : {1000, 3000})
            main->call(make_call({.api = abi::cuGraphLaunch, .begin = start + at, .duration = 1000, .object = 0xe1}));
        writer.end_clean();
    }
    void count(unsigned number, char const* name, std::uint64_t calls, std::uint64_t failed = 0) {
        std::strcpy(head->counts[number].name, name);
        head->counts[number].calls = calls;
        head->counts[number].failed = failed;
    }
    activity& add(activity_kind kind, std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) {
        activity a{};
        a.kind = kind;
        a.correlation = correlation;
        a.begin = start + begin;
        a.end = end ? start + end : 0;
        return activities.emplace_back(a);
    }
    void write(std::uint64_t claimed) {
        head->activities = claimed;
        std::ofstream file(counted, std::ios::binary);
        file.write(reinterpret_cast<char const*>(head.get()), sizeof *head);
        file.write(reinterpret_cast<char const*>(activities.data()),
                   static_cast<std::streamsize>(activities.size() * sizeof(activity)));
    }
    void drain() {
        write(activities.size());
        drain_folder(folder.path(), trace);
    }
    strings verdicts() { return rows(trace, "SELECT symbol, recorded, cupti, verdict FROM audit ORDER BY symbol"); }
};

TEST_F(cupti_files_test, counts_are_compared_with_the_recorded_calls) {
    record_launches();
    count(3, "cuGraphLaunch", 2);
    count(4, "cuDeviceGetCount", 5);
    count(5, "cuMemFree_v2", 1, 1);
    count(6, "cuCtxGetCurrent", 40);
    drain();
    EXPECT_EQ(verdicts(), (strings{"cuCtxGetCurrent|0|40|expected", "cuDeviceGetCount|0|5|outside",
                                   "cuGraphLaunch|2|2|same", "cuMemFree_v2|0|1|missed"}));
    EXPECT_EQ(rows(trace, "SELECT failed FROM cupti_call WHERE symbol = 'cuMemFree_v2'"), strings{"1"});
    EXPECT_FALSE(std::filesystem::exists(counted)) << "what is in the trace goes";
}

TEST_F(cupti_files_test, calls_that_cupti_did_not_see_are_extra) {
    record_launches();
    count(3, "cuGraphLaunch", 1);
    drain();
    EXPECT_EQ(verdicts(), strings{"cuGraphLaunch|2|1|extra"});
}

TEST_F(cupti_files_test, callers_past_the_hooks_are_named) {
    record_launches();
    count(3, "cuGraphLaunch", 4);
    auto const stray = [&](std::uint32_t place, std::uint32_t call, char const* module, std::uint64_t calls,
                           bool ready) {
        auto& one = head->strays[place];
        one.call = call;
        std::strcpy(one.module, module);
        one.calls = calls;
        one.ready = ready ? 1 : 0;
    };
    head->stray_callers = 5;
    stray(0, 3, "/lib/a.so", 1, true);
    stray(1, 3, "/lib/b.so", 1, true);
    stray(2, 3, "/lib/a.so", 1, true);  // two threads met it at once
    stray(3, 3, "/lib/half.so", 1, false);
    stray(4, cupti_file::max_calls, "/lib/damaged.so", 1, true);
    drain();
    EXPECT_EQ(rows(trace, "SELECT symbol, module, calls FROM cupti_stray ORDER BY module"),
              (strings{"cuGraphLaunch|/lib/a.so|2", "cuGraphLaunch|/lib/b.so|1"}));
}

TEST_F(cupti_files_test, the_devices_work_finds_the_call_that_asked_for_it) {
    record_launches();
    count(3, "cuGraphLaunch", 2);
    activity& call = add(activity_kind::call, 11, 3100, 3900);
    call.object = 3;
    call.thread = tid;
    add(activity_kind::graph_launch, 11, 5000, 9000);
    add(activity_kind::kernel, 12, 5000, 6000);  // nobody is known to have asked for it
    drain();
    EXPECT_EQ(rows(trace, "SELECT kind, event, begin_us, duration_us, waited_us FROM device_work ORDER BY activity"),
              (strings{"graph_launch|2|5.0|4.0|1.9", "kernel|-|5.0|1.0|-"}));
}

TEST_F(cupti_files_test, a_runtime_call_stands_for_the_driver_call_that_it_made) {
    record_launches();
    count(3, "cuGraphLaunch", 2);
    add(activity_kind::runtime_call, 11, 900, 2100).thread = tid;
    add(activity_kind::graph_launch, 11, 5000, 9000);
    drain();
    EXPECT_EQ(rows(trace, "SELECT event FROM device_work"), strings{"1"});
}

TEST_F(cupti_files_test, what_is_missing_is_said) {
    record_launches();
    add(activity_kind::kernel, 1, 10, 20);
    head->dropped = 3;
    head->now = cupti_file::state::running;
    write(5);  // four more than the file holds
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT text FROM note ORDER BY text"),
              (strings{"7 activities of CUPTI were lost",
                       "the process ended before CUPTI had handed over what the device did last"}));
    EXPECT_EQ(number(trace, "SELECT count(*) FROM gpu_activity"), 1);
}

TEST_F(cupti_files_test, where_cupti_could_not_be_used_the_trace_says_why) {
    record_launches();
    head->now = cupti_file::state::unavailable;
    head->with_activities = 0;
    std::strcpy(head->why, "another tool uses it already");
    drain();
    EXPECT_EQ(rows(trace, "SELECT text FROM note"), strings{"CUPTI counted nothing: another tool uses it already"});
    EXPECT_EQ(verdicts(), strings{});
}

TEST_F(cupti_files_test, foreign_damaged_and_other_processes_files_are_left) {
    record_launches();
    using change = void (*)(cupti_file::header&);
    for (change const damage :
         {change([](cupti_file::header& h) { h.magic = 1; }), change([](cupti_file::header& h) { h.version = 99; }),
          change([](cupti_file::header& h) { h.header_bytes = 1; }),
          change([](cupti_file::header& h) { h.pid = 1; })}) {
        auto const before = std::make_unique<std::byte[]>(sizeof *head);
        std::memcpy(before.get(), head.get(), sizeof *head);
        damage(*head);
        count(3, "cuGraphLaunch", 2);
        drain();
        EXPECT_EQ(number(trace, "SELECT count(*) FROM cupti_call"), 0);
        EXPECT_TRUE(std::filesystem::exists(counted));
        std::memcpy(static_cast<void*>(head.get()), before.get(), sizeof *head);
    }
    std::ofstream(counted) << "short";
    drain_folder(folder.path(), trace);
    EXPECT_TRUE(std::filesystem::exists(counted));
}

}  // namespace
}  // namespace lastref::test
