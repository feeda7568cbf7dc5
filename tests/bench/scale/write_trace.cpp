// Writes a trace of a program that never was, as large as asked for, by the same rows and the same schema as the drain:
//
//     write_trace TRACE EVENTS [LIVE [PLACES [LEAK]]]
//
// Four threads train, one cleans up. A step allocates a buffer on the thread's stream, copies into it on another stream
// between two events, launches kernels and a graph, and frees the oldest buffer, so that LIVE buffers (1024) are alive
// at any time, whatever the number of events. Now and then a thread makes a new executable graph that holds a payload
// and destroys the one before; the destructor hands the memory to the thread that cleans up. Everything is released in
// the end, but for every LEAK-th buffer (0: none), so that the report has no finding, or one for each place that leaks.
// What creates or frees has one of PLACES call stacks (512) of 14 frames, as under --stacks=create.
//
// Prints JSON: {"events": 1000000, "bytes": 71000000}.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/stack_table.h"
#include "collector/drain/trace_file.h"
#include "collector/drain/trace_writer.h"
#include "collector/preload/hooks/api_table.h"

namespace lastref::bench {
namespace {

using drain::context_id;
using drain::process_id;
using drain::stack_id;
using drain::thread_id;
using hooks::abi;

struct shape {
    std::int64_t events = 0;
    std::uint64_t live = 1024;
    std::uint64_t places = 512;
    std::uint64_t leak = 0;
};

constexpr std::uint64_t workers = 4;
constexpr std::int64_t between_calls = 1500, a_call = 700;  // ns
constexpr std::int64_t a_transaction = 65536;
constexpr std::uint64_t context_handle = 0x5500c000, kernel = 0x5500f000;
constexpr std::uint64_t code = 0x400000, code_end = 0x40000000, frames_deep = 14;
constexpr std::int64_t in_callback = 1, one_stamp = 64;

struct operands {
    std::uint64_t stream = 0, object = 0, other = 0, size = 0, extra = 0;
};

// The trace as the calls of its one process.
class recording {
  public:
    recording(drain::trace_file& trace, shape const& asked);
    thread_id thread(std::uint32_t tid);
    void call(thread_id thread, abi what, operands const& with, std::int64_t flags = 0);
    void phase(std::string_view what) { writer_.add_phase(process_, clock_, what, main_); }
    void place(std::uint64_t number) { place_ = number % stacks_.size(); }
    std::int64_t events() const { return events_; }
    void finish();

  private:
    process_id insert_process();
    void make_stacks(std::uint64_t places);

    drain::trace_file& trace_;
    drain::trace_writer writer_;
    process_id process_;
    std::optional<thread_id> main_;
    std::optional<context_id> context_;
    std::vector<stack_id> stacks_;
    std::uint64_t place_ = 0;
    std::int64_t clock_ = 1'000'000;
    std::int64_t events_ = 0;
};

recording::recording(drain::trace_file& trace, shape const& asked)
    : trace_(trace), writer_(trace.db()), process_(insert_process()) {
    make_stacks(asked.places);
    context_ = writer_.add_context(process_, context_handle, 0, "primary");
}

process_id recording::insert_process() {
    trace_.start_at(1'000'000'000, 1'700'000'000'000'000'000);
    writer_.begin();
    drain::statement(trace_.db(),
                     "INSERT INTO process (pid, parent_pid, start_ticks, executable, command_line, driver_version,"
                     " stacks, first_time, end) VALUES (4711, 1, 1, '/generated/program', '/generated/program', 13000,"
                     " 'create', 0, 'running')")
        .run();
    return process_id{trace_.db().last_row()};
}

// Stacks share their outer frames, as those of one program do.
void recording::make_stacks(std::uint64_t places) {
    drain::stack_table table(writer_, process_);
    spool::module_record module{};
    module.begin = code;
    module.end = code_end;
    module.load_bias = code;
    table.add_module(module, "/generated/program");
    std::array<std::uint64_t, frames_deep> frames{};
    for (std::uint64_t place = 0; place < places; ++place) {
        for (std::uint64_t depth = 0; depth < frames_deep; ++depth) {
            auto const shared = depth < 3 ? place : depth < 8 ? place / 16 : 0;
            frames[depth] = code + (shared * frames_deep + depth + 1) * 16;
        }
        stacks_.push_back(table.find_or_add(frames, false));
    }
}

thread_id recording::thread(std::uint32_t tid) {
    auto const made = writer_.add_thread(process_, tid, !main_);
    if (!main_) main_ = made;
    return made;
}

void recording::call(thread_id thread, abi what, operands const& with, std::int64_t flags) {
    auto const& kind = lastref::info(hooks::info(what).kind);
    bool const one = kind.stamps == stamp_count::one;
    clock_ += between_calls;
    drain::event_row row{};
    row.begin = !one && kind.order == event_order::end ? clock_ - a_call : clock_;
    row.duration = one ? 0 : a_call;
    row.thread = thread;
    row.api = static_cast<std::int64_t>(what) + 1;
    row.result = 0;
    row.context = context_;
    row.stream = with.stream;
    row.object = with.object;
    row.other = with.other;
    row.size = with.size;
    row.extra = with.extra;
    if (kind.stacks == stack_setting::create) row.stack = stacks_[place_];
    row.flags = flags | (one ? one_stamp : 0);
    writer_.add_event(row);
    if (++events_ % a_transaction == 0) writer_.commit();
}

void recording::finish() {
    for (auto const* what : {"exit_begin", "driver_torn_down", "end"}) phase(what);
    writer_.set_process(process_, "end", std::string_view("clean"));
    writer_.set_process(process_, "exit_status", std::int64_t{0});
    writer_.set_process(process_, "last_time", clock_);
    writer_.commit();
    trace_.set_meta("state", "complete");
    trace_.close_log();
}

// One training thread: its streams, its buffers from the oldest to the newest, its executable graph.
class worker {
  public:
    worker(recording& to, std::uint64_t number, shape const& asked)
        : to_(to),
          number_(number),
          thread_(to.thread(static_cast<std::uint32_t>(4712 + number))),
          base_(number << 38),
          live_(asked.live / workers),
          leak_(asked.leak) {
        to_.call(thread_, abi::cuCtxSetCurrent, {.object = context_handle});
        for (auto const stream : {compute(), copies()})
            to_.call(thread_, abi::cuStreamCreate, {.object = stream, .extra = 1});
        for (auto const event : {allocated(), copied()})
            to_.call(thread_, abi::cuEventCreate, {.object = event, .extra = 2});
    }

    void step(thread_id cleaner) {
        to_.place(steps_ * workers + number_);
        fill(allocate());
        for (int i = 0; i < 8; ++i)
            to_.call(thread_, abi::cuLaunchKernel_ptsz, {.stream = compute(), .object = kernel, .size = 128});
        if (graphs_ > 0) to_.call(thread_, abi::cuGraphLaunch_ptsz, {.stream = compute(), .object = exec(graphs_)});
        if (newest_ - oldest_ > live_) free_oldest();
        if (++steps_ % 8 == 0)
            to_.call(thread_, abi::cuStreamSynchronize_ptsz, {.stream = compute(), .object = compute()});
        if (steps_ % 16 == 0) next_graph(cleaner);
    }

    void finish(thread_id cleaner) {
        while (oldest_ < newest_) free_oldest();
        to_.call(thread_, abi::cuStreamSynchronize_ptsz, {.stream = compute(), .object = compute()});
        if (graphs_ > 0) drop_graph(graphs_, cleaner);
        for (auto const event : {allocated(), copied()}) to_.call(thread_, abi::cuEventDestroy_v2, {.object = event});
        for (auto const stream : {compute(), copies()})
            to_.call(thread_, abi::cuStreamDestroy_v2, {.stream = stream, .object = stream});
    }

  private:
    // Handles come again, as a driver's do.
    std::uint64_t compute() const { return base_ + 0x5000; }
    std::uint64_t copies() const { return base_ + 0x5100; }
    std::uint64_t allocated() const { return base_ + 0xe000; }
    std::uint64_t copied() const { return base_ + 0xe100; }
    bool leaks(std::uint64_t n) const { return leak_ != 0 && n % leak_ == 0; }
    std::uint64_t buffer(std::uint64_t n) const {
        auto const slot = leaks(n) ? live_ + 2 + n : n % (live_ + 2);
        return 0x7000'0000'0000 + base_ + slot * 0x1000;
    }
    std::uint64_t payload(std::uint64_t n) const { return 0x6000'0000'0000 + base_ + n % 3 * 0x10000; }
    std::uint64_t object(std::uint64_t n) const { return base_ + 0xa0000 + n % 3 * 0x100; }
    std::uint64_t graph() const { return base_ + 0xb0000; }
    std::uint64_t exec(std::uint64_t n) const { return base_ + 0xc0000 + n % 3 * 0x100; }

    std::uint64_t allocate() {
        auto const made = buffer(newest_++);
        to_.call(thread_, abi::cuMemAllocAsync_ptsz, {.stream = compute(), .object = made, .size = 4096});
        return made;
    }

    void fill(std::uint64_t made) {
        to_.call(thread_, abi::cuEventRecord_ptsz, {.stream = compute(), .object = allocated()});
        to_.call(thread_, abi::cuStreamWaitEvent_ptsz, {.stream = copies(), .object = allocated()});
        to_.call(thread_, abi::cuMemcpyHtoDAsync_v2_ptsz,
                 {.stream = copies(), .object = made, .other = 0x1000, .size = 4096});
        to_.call(thread_, abi::cuEventRecord_ptsz, {.stream = copies(), .object = copied()});
        to_.call(thread_, abi::cuStreamWaitEvent_ptsz, {.stream = compute(), .object = copied()});
        to_.call(thread_, abi::cuMemsetD32Async_ptsz, {.stream = compute(), .object = made, .size = 4096});
    }

    void free_oldest() {
        auto const n = oldest_++;
        if (!leaks(n)) to_.call(thread_, abi::cuMemFreeAsync_ptsz, {.stream = compute(), .object = buffer(n)});
    }

    void next_graph(thread_id cleaner) {
        auto const next = graphs_ + 1;
        to_.call(thread_, abi::cuMemAlloc_v2, {.object = payload(next), .size = 65536});
        to_.call(thread_, abi::cuGraphCreate, {.object = graph()});
        for (std::uint64_t node = 0; node < 3; ++node)
            to_.call(thread_, abi::cuGraphAddMemsetNode,
                     {.object = graph() + 8 + node * 8, .other = graph(), .extra = 2});
        to_.call(thread_, abi::cuUserObjectCreate,
                 {.object = object(next), .other = payload(next), .size = 1, .extra = code});
        to_.call(thread_, abi::cuGraphRetainUserObject,
                 {.object = object(next), .other = graph(), .size = 1, .extra = 1});
        to_.call(thread_, abi::cuGraphInstantiate_v2, {.object = exec(next), .other = graph()});
        to_.call(thread_, abi::cuGraphDestroy, {.object = graph()});
        if (graphs_ > 0) drop_graph(graphs_, cleaner);
        graphs_ = next;
    }

    // Synchronized before: the destructor runs inside the call.
    void drop_graph(std::uint64_t n, thread_id cleaner) {
        to_.call(thread_, abi::cuGraphExecDestroy, {.object = exec(n)});
        to_.call(thread_, abi::callback_user_object, {.object = object(n), .other = payload(n), .extra = code},
                 in_callback);
        to_.call(cleaner, abi::cuMemFree_v2, {.object = payload(n)});
    }

    recording& to_;
    std::uint64_t number_;
    thread_id thread_;
    std::uint64_t base_;
    std::uint64_t live_;
    std::uint64_t leak_;
    std::uint64_t steps_ = 0, oldest_ = 0, newest_ = 0, graphs_ = 0;
};

std::int64_t write(drain::trace_file& trace, shape const& asked) {
    recording to(trace, asked);
    auto const main = to.thread(4711);
    to.call(main, abi::cuInit, {});
    to.phase("driver_initialized");
    to.call(main, abi::cuDevicePrimaryCtxRetain, {.object = context_handle});
    to.call(main, abi::cuCtxSetCurrent, {.object = context_handle});
    std::vector<worker> all;
    for (std::uint64_t i = 0; i < workers; ++i) all.emplace_back(to, i + 1, asked);
    // What the end takes: the buffers, and a few calls a worker.
    auto const last = asked.events - static_cast<std::int64_t>(asked.live + 10 * workers);
    while (to.events() < last)
        for (auto& each : all) each.step(main);
    for (auto& each : all) each.finish(main);
    to.call(main, abi::cuDevicePrimaryCtxRelease_v2, {});
    to.finish();
    return to.events();
}

int run(std::filesystem::path const& path, shape const& asked) {
    drain::trace_claim claim(path, drain::trace_claim::existing::replace);
    std::int64_t events = 0;
    {
        drain::trace_file trace(claim);
        events = write(trace, asked);
    }
    std::printf("{\"events\": %lld, \"bytes\": %llu}\n", static_cast<long long>(events),
                static_cast<unsigned long long>(std::filesystem::file_size(path)));
    return 0;
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    lastref::bench::shape asked;
    if (count > 2) asked.events = std::strtoll(arguments[2], nullptr, 10);
    if (count > 3) asked.live = std::strtoull(arguments[3], nullptr, 10);
    if (count > 4) asked.places = std::strtoull(arguments[4], nullptr, 10);
    if (count > 5) asked.leak = std::strtoull(arguments[5], nullptr, 10);
    if (count < 3 || count > 6 || asked.events <= 0 || asked.places == 0) {
        std::fputs("write_trace TRACE EVENTS [LIVE [PLACES [LEAK]]]\n", stderr);
        return 2;
    }
    try {
        return lastref::bench::run(arguments[1], asked);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "write_trace: %s\n", error.what());
        return 1;
    }
}
