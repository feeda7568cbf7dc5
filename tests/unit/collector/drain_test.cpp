// From spool to trace: every kind of record arrives as its rows, once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "collector/drain/process_watch.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using hooks::abi;
using strings = std::vector<std::string>;

constexpr std::uint64_t start = 1'000'000'000;

struct drain_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::filesystem::path spool = folder / "999999999-1.spool";
};

TEST_F(drain_test, a_call_becomes_a_row_with_all_its_columns) {
    {
        spool_writer writer(spool);
        auto const context = writer.context(0xc0, 0, spool::context_kind::primary);
        auto const main = writer.thread(999'999'999);
        main->call(make_call({.api = abi::cuMemAllocAsync_ptsz,
                              .begin = start + 100,
                              .duration = 50,
                              .object = 0x7f00,
                              .size = 4096,
                              .stream = 2,
                              .context = context}));
        main->call(make_call(
            {.api = abi::cuMemFreeAsync, .begin = start + 200, .duration = 20, .object = 0x7f00, .result = 201}));
        main->phase(spool::phase::end, start + 300);
    }
    auto const outcome = drain_folder(folder.path(), trace);
    EXPECT_EQ(outcome.counts.calls, 2u);
    EXPECT_EQ(outcome.counts.processes, 1u);
    EXPECT_EQ(
        rows(trace,
             "SELECT begin, duration, symbol, result, handle, device, context.kind, stream, event.object, event.size,"
             " flags FROM event JOIN api ON api.id = api LEFT JOIN context ON context.id = context ORDER BY event.id"),
        (strings{"100|50|cuMemAllocAsync_ptsz|0|192|0|primary|2|32512|4096|0",
                 "200|20|cuMemFreeAsync|201|-|-|-|0|32512|0|0"}));
    EXPECT_EQ(rows(trace, "SELECT pid, end, spool, stacks FROM process"), (strings{"999999999|clean|-|create"}));
    EXPECT_EQ(rows(trace, "SELECT what, at, event FROM phase"), (strings{"end|300|2"}));
    EXPECT_EQ(rows(trace, "SELECT value FROM meta WHERE key = 'state'"), (strings{"complete"}));
    EXPECT_EQ(rows(trace, "SELECT count(*) FROM spool_progress"), (strings{"0"}));
    EXPECT_EQ(rows(trace, "SELECT * FROM loss"), strings{});
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_FALSE(std::filesystem::exists(spool));
}

// Ranges take their place in the order of time, whichever threads they and the calls are of.
TEST_F(drain_test, ranges_between_calls_of_other_threads) {
    auto const call_at = [](std::uint64_t begin) {
        return make_call({.api = abi::cuMemAlloc_v2, .begin = start + begin, .duration = 5});
    };
    {
        spool_writer writer(spool);
        auto const main = writer.thread(999'999'999);
        auto const other = writer.thread(999'999'998);
        std::string const name(500, 'n');
        main->begin_range(1, start + 50, "outer");
        other->call(call_at(100));
        main->begin_range(2, start + 150, name);
        other->call(call_at(200));
        other->call(call_at(300));
        main->end_range(1, start + 250);  // they may overlap
        main->end_range(2, start + 350);
        main->end_range(77, start + 360);  // of none
        main->begin_range(3, start + 400, "open");
        main->phase(spool::phase::end, start + 500);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT number, length(name), begin, begin_event, end, end_event FROM range ORDER BY id"),
              (strings{"1|5|50|0|250|2", "2|500|150|1|350|3", "3|4|400|3|-|-"}));
    EXPECT_EQ(rows(trace, "SELECT * FROM loss"), strings{});
}

TEST_F(drain_test, ranges_that_are_damaged) {
    {
        spool_writer writer(spool);
        auto const main = writer.thread(999'999'999);
        main->begin_range(0, start + 100, "without a number");
        main->begin_range(1, start + 100, std::string(2000, 'x'));  // longer than any is written
        main->begin_range(2, 0, "at no time");
        main->begin_range(3, start + 200, "good");
        main->begin_range(3, start + 250, "of the same number");
        main->phase(spool::phase::end, start + 300);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT number, name FROM range"), (strings{"3|good"}));
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), (strings{"damaged_records|3"}));
}

spool::nvtx_record said(spool::nvtx_action action, std::uint64_t number = 0) {
    spool::nvtx_record out{};
    out.action = action;
    out.number = number;
    return out;
}

TEST_F(drain_test, nvtx_ranges_nest_by_thread_and_domain) {
    using spool::nvtx_action;
    {
        spool_writer writer(spool);
        auto const main = writer.thread(999'999'999);
        auto const other = writer.thread(999'999'998);
        main->nvtx(said(nvtx_action::push), start + 10, "", "outer");
        main->nvtx(said(nvtx_action::push), start + 20, "d", "in d");
        other->nvtx(said(nvtx_action::push), start + 30, "", "other's");
        main->nvtx(said(nvtx_action::pop), start + 40);
        main->nvtx(said(nvtx_action::pop), start + 50);  // of none
        main->nvtx(said(spool::nvtx_action::start, 7), start + 60, "", std::string(500, 's'));
        other->nvtx(said(nvtx_action::end, 7), start + 70);
        other->nvtx(said(nvtx_action::end, 8), start + 80);  // of none
        main->nvtx(said(nvtx_action::pop), start + 90, "d");
        main->phase(spool::phase::end, start + 100);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(
        rows(trace, "SELECT thread, kind, domain, length(message), begin, end, end_thread FROM nvtx_range ORDER BY id"),
        (strings{"1|push|-|5|10|40|1", "1|push|d|4|20|90|1", "2|push|-|7|30|-|-", "1|start|-|500|60|70|2"}));
    EXPECT_EQ(rows(trace, "SELECT * FROM loss"), strings{});
}

TEST_F(drain_test, nvtx_that_is_damaged) {
    using spool::nvtx_action;
    {
        spool_writer writer(spool);
        auto const main = writer.thread(999'999'999);
        main->nvtx(said(spool::nvtx_action{7}), start + 10, "", "no such action");
        main->nvtx(said(nvtx_action::mark), 0, "", "at no time");
        main->nvtx(said(nvtx_action::mark), start + 20, "", std::string(2000, 'x'));  // longer than any is written
        auto wrong = said(nvtx_action::mark);
        wrong.category_length = 200;
        main->nvtx(wrong, start + 30, "", "a category longer than all texts");
        auto good = said(nvtx_action::mark);
        good.payload_kind = spool::nvtx_payload::f64;
        good.payload = 0x4004000000000000;  // 2.5
        main->nvtx(good, start + 40, "d", "good");
        main->phase(spool::phase::end, start + 100);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT at, domain, message, payload FROM nvtx_mark"), (strings{"40|d|good|2.5"}));
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), (strings{"damaged_records|4"}));
}

TEST_F(drain_test, texts_modules_and_stacks) {
    {
        spool_writer writer(spool);
        auto const main = writer.thread(1);
        main->text(spool::text_kind::executable, "/bin/prog");
        main->text(spool::text_kind::command_line, std::string_view("prog\0two words\0--x=1\0", 21));
        main->text(spool::text_kind::environment, "CUDA_CACHE_PATH=/x=y");
        main->text(spool::text_kind::environment, "SECRET=1");
        main->text(spool::text_kind::thread_name, "worker");
        main->text(spool::text_kind::setting_error, std::string(9000, 'e'), 700);
        main->module("/lib/one.so", 0x1000, 0x2000, "\xab\x01");
        for (int i = 0; i < 2; ++i) {
            auto const stack = main->stack({0x1500, 0x2000, 0x9000});
            main->call(make_call(
                {.api = abi::cuMemAlloc_v2, .begin = start + 10 + static_cast<unsigned>(i) * 100, .stack = stack}));
        }
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT executable, command_line, end FROM process"),
              (strings{"/bin/prog|prog 'two words' --x=1|abrupt"}));
    EXPECT_EQ(rows(trace, "SELECT name, value FROM environment"), (strings{"CUDA_CACHE_PATH|/x=y"}));
    EXPECT_EQ(rows(trace, "SELECT name FROM thread"), (strings{"worker"}));
    EXPECT_EQ(rows(trace, "SELECT length(text) FROM note"), (strings{"9000"}));
    EXPECT_EQ(rows(trace, "SELECT path, build_id, first_address FROM module"), (strings{"/lib/one.so|ab01|4096"}));
    EXPECT_EQ(rows(trace, "SELECT count(*) FROM stack"), (strings{"1"}));
    EXPECT_EQ(rows(trace, "SELECT DISTINCT stack FROM event"), (strings{"1"}));
    // A return address at the very end of a module still belongs to a call inside it.
    EXPECT_EQ(
        rows(trace, "SELECT depth, address, module FROM stack_frame JOIN frame ON frame.id = frame ORDER BY depth"),
        (strings{"0|5376|1", "1|8192|1", "2|36864|-"}));
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(drain_test, python_frames) {
    std::string const file = "/srv/models/" + std::string(500, 'd') + "/train.py";
    std::string const function = "Model.load";
    {
        spool_writer writer(spool);
        auto const main = writer.thread(1);
        main->module("/lib/libpython3.so", 0x1000, 0x2000);
        // The number is named before it is told what it means, which another thread does.
        auto const stack = main->stack({spool::python_frame(7), 0x1500, spool::python_frame(9), 0x1600});
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .stack = stack}));
        writer.thread(2)->python_frame(7, function, file, 41);
        main->python_frame(9, "<module>", "t.py", 0);
        main->python_frame(9, "again", "u.py", 3);  // never happens; what is there stays
        main->text(spool::text_kind::note, "something else");
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(
        rows(trace,
             "SELECT depth, function, file, line, module, address < 0 FROM stack_frame JOIN frame ON frame.id = frame"
             " LEFT JOIN python_frame USING (process, address) ORDER BY depth"),
        (strings{"0|Model.load|" + file + "|41|-|1", "1|-|-|-|1|0", "2|<module>|t.py|-|-|1", "3|-|-|-|1|0"}));
    EXPECT_EQ(rows(trace, "SELECT text FROM note"), (strings{"something else"}));
    EXPECT_EQ(rows(trace, "SELECT name FROM loss"), (strings{}));
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(drain_test, longest_stacks) {
    std::vector<std::uint64_t> frames;
    for (std::uint32_t i = 0; i < spool::max_stack_frames; ++i) frames.push_back(0x1000 + i);
    for (std::uint32_t i = 0; i < spool::max_python_frames; ++i) frames.push_back(spool::python_frame(i + 1));
    {
        spool_writer writer(spool);
        auto const main = writer.thread(1);
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .stack = main->stack(frames, true)}));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM stack_frame"), static_cast<std::int64_t>(frames.size()));
    EXPECT_EQ(rows(trace, "SELECT name FROM loss"), (strings{}));
}

TEST_F(drain_test, addresses_mean_another_module_after_it_was_replaced) {
    {
        spool_writer writer(spool);
        auto const main = writer.thread(1);
        main->module("/lib/one.so", 0x1000, 0x2000);
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .stack = main->stack({0x1500})}));
    }
    drain_folder(folder.path(), trace);
    {
        spool_options second;
        second.first_ticks = second.first_ns = start + 1;
        spool_writer writer(folder / "b.spool", second);
        auto const main = writer.thread(1);
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .stack = main->stack({0x1500})}));
        main->module("/lib/one.so", 0x1000, 0x2000);
        main->module("/lib/two.so", 0x1400, 0x3000);
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 30, .stack = main->stack({0x1500})}));
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace,
                   "SELECT event.id, path FROM event JOIN stack_frame USING (stack) JOIN frame ON frame.id = frame"
                   " LEFT JOIN module ON module.id = module ORDER BY event.id"),
              (strings{"1|/lib/one.so", "2|/lib/two.so", "3|/lib/two.so"}));
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(drain_test, many_segments_of_many_threads) {
    constexpr int threads = 4, calls = 5000;
    {
        spool_writer writer(spool);
        std::vector<std::thread> running;
        for (unsigned t = 0; t < threads; ++t) {
            running.emplace_back([&writer, t] {
                auto const me = writer.thread(100 + t);
                for (unsigned i = 0; i < calls; ++i)
                    me->call(make_call({.api = abi::cuMemAlloc_v2,
                                        .begin = start + 100 + i * 8 + t,
                                        .duration = 3,
                                        .object = i,
                                        .size = t}));
                me->end();
            });
        }
        for (auto& one : running) one.join();
    }
    EXPECT_EQ(drain_folder(folder.path(), trace).counts.calls, std::uint64_t{threads * calls});
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT thread || '/' || object) FROM event"), threads * calls);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM loss"), 0);
    EXPECT_EQ(broken_rule(trace), "");
}

// The drain reads while this process writes; segments come back and are used again.
TEST_F(drain_test, live_process_with_recycling) {
    constexpr unsigned threads = 3, calls = 30000;
    spool_options options = options_of_this_process();
    options.max_bytes = spool::segment_offset(64);  // far less than all records need
    auto const path = folder / (std::to_string(options.pid) + "-" + std::to_string(options.process_start) + ".spool");
    std::atomic<unsigned> running{threads};
    std::atomic<std::uint64_t> dropped{0};
    auto writer = std::make_unique<spool_writer>(path, options);
    auto const produce = [&](unsigned t) {
        auto const me = writer->thread(this_thread_id());
        for (unsigned i = 0; i < calls; ++i) {
            std::uint64_t const begin = drain::read_clocks(spool::clock_kind::monotonic_ns).ticks;
            me->call(make_call({.api = abi::cuMemAlloc_v2, .begin = begin, .duration = 1, .object = i, .size = t}));
            if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        dropped += me->dropped;
        me->end();
        --running;
    };
    std::vector<std::thread> producers;
    for (unsigned t = 0; t < threads; ++t) producers.emplace_back(produce, t);

    struct : drain::drain_control {
        std::atomic<unsigned>* running;
        int passes_after = 0;
        void sleep(std::chrono::milliseconds) override { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
        bool more_may_come() override { return *running > 0; }
        bool out_of_patience() override { return *running == 0 && ++passes_after > 100; }
    } control;
    control.running = &running;
    drain::trace_claim claim(trace, drain::trace_claim::existing::refuse);
    drain::trace_file file(claim);
    file.start_at(static_cast<std::int64_t>(options.first_ns), 0);
    auto const outcome = drain::drain_all(folder.path(), {}, file, control);
    for (auto& one : producers) one.join();

    EXPECT_EQ(outcome.counts.unfinished, 1u);
    EXPECT_EQ(outcome.counts.calls + dropped, std::uint64_t{threads * calls});
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT thread || '/' || object) FROM event") +
                  static_cast<std::int64_t>(dropped.load()),
              threads * calls);
    EXPECT_LE(writer->header().segments.load(), 64u);
    EXPECT_GT(writer->header().next_segment_serial.load(), 64u) << "nothing was recycled";
    EXPECT_EQ(rows(trace, "SELECT count FROM loss WHERE name = 'processes_unfinished'"), strings{"1"});
    EXPECT_EQ(number(trace, "SELECT coalesce(sum(count), 0) FROM loss WHERE name = 'records_dropped'"),
              static_cast<std::int64_t>(dropped.load()));
    // Threads that have ended gave their slots back.
    for (std::uint32_t i = 0; i < threads; ++i) EXPECT_EQ(spool::thread_slot_at(writer->base(), i)->state.load(), 0u);
}

}  // namespace
}  // namespace lastref::test
