#include "tests/gui/scenes/samples.h"

#include <fmt/core.h>

#include <random>

#include "gui/scenes/timeline_builder.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t graph = 0x90, exec = 0x91, object = 0xab, payload = 0x7f00'0000'0000;

void write_graph(trace_builder& t, thread_builder& main, thread_builder& driver) {
    main.in({"attach_buffer", "main"});
    main.call("cuMemAllocAsync_ptsz", {.object = payload, .size = 4 * mib});
    main.call("cuUserObjectCreate", {.object = object, .other = payload, .size = 1});
    main.call("cuGraphCreate", {.object = graph});
    main.call("cuGraphRetainUserObject", {.object = object, .other = graph, .size = 1, .extra = 1});
    t.wait_ms(1);
    main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = graph, .lasts_ms = 1});
    main.call("cuGraphLaunch", {.stream = 0x50, .object = exec});
    main.call("cuGraphDestroy", {.object = graph});
    t.wait_ms(1);
    main.call("cuStreamSynchronize", {.stream = 0x50, .lasts_ms = 1});
    main.call("cuGraphExecDestroy", {.object = exec});
    driver.destructor(object, payload);
    t.wait_ms(40);
    main.in({"drain_queue", "main"});
    main.call("cuMemFreeAsync_ptsz", {.object = payload});
}

void write_race(thread_builder& main, thread_builder& worker) {
    main.in({"make_buffer", "main"});
    main.call("cuMemAllocAsync_ptsz", {.object = 0x7f10'0000'0000, .size = 2 * mib});
    main.call("cuMemsetD8Async_ptsz", {.object = 0x7f10'0000'0000, .size = mib});
    worker.in({"drop_buffer", "worker_loop"});
    worker.call("cuMemFreeAsync_ptsz", {.object = 0x7f10'0000'0000});
}

}  // namespace

void write_small_program(trace_builder& t) {
    auto main = t.thread("main");
    auto worker = t.thread("worker");
    auto driver = t.thread("cuda-callbacks");
    auto const context = t.context();
    main.use(context).in({"set_up", "main"});
    worker.use(context);
    t.phase("driver_initialized");
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemAlloc_v2", {.object = 0x7000'0000, .size = 8 * mib});
    write_graph(t, main, driver);
    write_race(main, worker);
    main.in({"tidy_up", "main"});
    main.call("cuStreamDestroy_v2", {.stream = 0x50, .object = 0x50});
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemsetD8Async", {.stream = 0x50, .object = 0x7000'0000, .size = mib, .result = 1});
    main.call("cuMemAllocHost_v2", {.object = 0x5500'0000, .size = mib});
    t.phase("exit_begin");
    main.in({"~holder", "exit"});
    main.call("cuMemFreeHost", {.object = 0x5500'0000, .flags = 8});
    t.phase("driver_torn_down");
    main.call("cuMemFree_v2", {.object = 0x7000'0000, .result = 4, .flags = 24});
    t.phase("end");
    t.ends("clean");
}

void write_many_holders(trace_builder& t) {
    auto main = t.thread("main");
    main.use(t.context()).in({"attach", "main"});
    t.phase("driver_initialized");
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemAlloc_v2", {.object = payload, .size = 16 * mib});
    main.call("cuUserObjectCreate", {.object = object, .other = payload, .size = 2});
    main.call("cuGraphCreate", {.object = graph});
    main.call("cuGraphRetainUserObject", {.object = object, .other = graph, .size = 1, .extra = 1});
    main.call("cuGraphClone", {.object = 0x92, .other = graph});
    main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = graph});
    main.call("cuGraphInstantiateWithFlags", {.object = 0x93, .other = 0x92});
    main.call("cuGraphDestroy", {.object = 0x92});
    for (int i = 0; i < 3; ++i) main.call("cuGraphLaunch", {.stream = 0x50, .object = exec});
    t.wait_ms(5);
    main.call("cuGraphExecDestroy", {.object = exec});
    t.wait_ms(10);
    main.call("cuStreamSynchronize", {.stream = 0x50});
    main.call("cuUserObjectRelease", {.object = object, .size = 1});
    t.wait_ms(20);
    main.call("cuGraphDestroy", {.object = graph});
    t.phase("exit_begin");
    t.phase("end");
    t.ends("clean");
}

void write_two_streams(trace_builder& t, bool ordered, int in_between) {
    auto main = t.thread("main");
    auto worker = t.thread("worker");
    auto const context = t.context();
    main.use(context).in({"step", "main"});
    worker.use(context).in({"drop", "worker_loop"});
    main.call("cuStreamCreate", {.object = 0x50, .extra = 1});
    main.call("cuStreamCreate", {.object = 0x60, .extra = 1});
    main.call("cuEventCreate", {.object = 0xe0});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = payload, .size = 4 * mib});
    main.call("cuMemsetD8Async", {.stream = 0x50, .object = payload + 64, .size = mib});
    for (int i = 0; i < in_between; ++i) main.call("cuLaunchKernel", {.stream = i % 2 == 0 ? 0x50u : 0x60u});
    main.call("cuEventRecord", {.stream = 0x50, .object = 0xe0});
    if (ordered) worker.call("cuStreamWaitEvent", {.stream = 0x60, .object = 0xe0});
    worker.call("cuMemFreeAsync", {.stream = 0x60, .object = payload});
    t.ends("clean");
}

void write_many_calls(trace_builder& t, int calls) {
    auto main = t.thread("main");
    auto worker = t.thread("worker");
    auto const context = t.context();
    main.use(context);
    worker.use(context);
    for (int i = 0; i < calls; ++i) {
        auto& thread = i % 3 == 0 ? worker : main;
        auto const address = 0x7000'0000 + static_cast<std::uint64_t>(i / 2) * 4096;
        auto const symbol = i % 2 == 0 ? "cuMemAllocAsync" : "cuMemFreeAsync";
        thread.call(symbol, {.stream = 0x50u + static_cast<std::uint64_t>(i) % 4, .object = address, .size = 4096});
    }
    t.ends("clean");
}

std::shared_ptr<gui::scenes::call_timeline const> made_up_timeline(std::size_t calls) {
    trace_builder t;
    for (auto const* name : {"main", "loader", "trainer", "logger"}) t.thread(name);
    t.context();
    auto const trace = store::trace::open(t.finish());
    model::object_id last{};
    std::vector<model::observer*> const nobody;
    model::process_state process(
        trace, trace.processes().front(), [&last] { return ++last.value, last; }, nobody);
    gui::scenes::timeline_builder builder(trace);
    std::mt19937_64 random(7);
    store::time_ns at = 1'000'000;
    for (std::size_t i = 0; i < calls; ++i) {
        auto const& api = trace.apis()[random() % trace.apis().size()];
        bool const burst = i / 1000 % 3 != 0;
        at += static_cast<store::time_ns>(burst ? 300 : 200'000 + random() % 400'000);
        store::event row;
        row.id = store::event_id{static_cast<std::int64_t>(i) + 1};
        row.begin = at;
        row.duration = static_cast<store::time_ns>(i % 20'000 == 0 ? 500'000'000 : 200 + random() % 900);
        row.result = i % 997 == 0 ? 1 : 0;
        row.thread = trace.threads()[random() % 4].id;
        row.api = api.id;
        model::event e{row, api, process.process().id, {}};
        if (i % 2 == 0)
            e.stream = {model::stream_kind::created, model::stream_token::created, {}, {}, {1 + random() % 8}, 0x50};
        builder.on_event(process, e);
    }
    return builder.take();
}

}  // namespace lastref::test
