// How each rule reads: one golden report for each, by the rule's name.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/golden.h"
#include "tests/unit/analyzer/rendered.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t non_blocking = 1;

TEST(rule_report, ptds_cross_thread_free) {
    trace_builder t;
    auto const context = t.context();
    auto main = t.thread("main").use(context);
    auto worker = t.thread("worker").use(context);
    main.call("cuMemAllocAsync_ptsz", {.object = 0x7000, .size = 1 << 20, .stack = {"make_buffer", "main"}});
    main.call("cuMemsetD8Async_ptsz", {.object = 0x7000, .size = 1 << 20, .stack = {"clear", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = 0x7000, .stack = {"drop_buffer", "worker_loop"}});
    expect_golden(rendered(t), "ptds-cross-thread-free.txt");
}

TEST(rule_report, unordered_free) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    for (std::uint64_t const stream : {0x50, 0x51})
        main.call("cuStreamCreate", {.object = stream, .extra = non_blocking});
    main.call("cuEventCreate", {.object = 0x60});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x7000, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuEventRecord", {.stream = 0x50, .object = 0x60});
    main.call("cuStreamWaitEvent", {.stream = 0x51, .object = 0x60});
    main.call("cuMemcpyHtoDAsync_v2",
              {.stream = 0x50, .object = 0x7000, .other = 0x100, .size = 1 << 20, .stack = {"fill", "main"}});
    main.call("cuMemFreeAsync", {.stream = 0x51, .object = 0x7000, .stack = {"drop", "main"}});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x8000, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuMemFreeAsync", {.stream = 0, .object = 0x8000, .stack = {"drop_on_default", "main"}});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x9000, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuMemsetD8Async", {.stream = 0x50, .object = 0x9000, .size = 1 << 20, .stack = {"clear", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .stack = {"drop_at_once", "main"}});
    for (std::uint64_t const stream : {0x50, 0x51})
        main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    main.call("cuEventDestroy_v2", {.object = 0x60});
    expect_golden(rendered(t), "unordered-free.txt");
}

TEST(rule_report, double_free) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x9000, .size = 64, .stack = {"make_table", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .stack = {"drop_table", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .result = 1, .stack = {"drop_table_again", "main"}});
    main.call("cuEventDestroy_v2", {.object = 0x60, .result = 400, .stack = {"drop_event", "main"}});
    expect_golden(rendered(t), "double-free.txt");
}

TEST(rule_report, cuda_call_in_callback) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    auto driver = t.thread("cuda-driver");
    main.call("cuMemAllocHost_v2", {.object = 0x7000, .size = 4096, .stack = {"stage", "main"}});
    main.call("cuLaunchHostFunc", {.stream = 2, .object = 0x77, .extra = 0xf0});
    driver.call("callback:host_function", {.object = 0x77, .extra = 0xf0});
    driver.call("cuMemFreeHost",
                {.object = 0x7000, .result = 800, .flags = 1, .stack = {"on_done", "libcuda.so.1!run"}});
    expect_golden(rendered(t), "cuda-call-in-callback.txt");
}

TEST(rule_report, capture_interference) {
    trace_builder t;
    auto const context = t.context();
    auto main = t.thread("main").use(context);
    auto worker = t.thread("worker").use(context);
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 1 << 20, .stack = {"load", "main"}});
    main.call("cuStreamBeginCapture_v2", {.stream = 0x50, .stack = {"capture_step", "main"}});
    worker.call("cuMemFree_v2", {.object = 0x7000, .result = 900, .stack = {"evict", "cache_loop"}});
    main.call("cuStreamEndCapture", {.stream = 0x50, .result = 901, .stack = {"capture_step", "main"}});
    expect_golden(rendered(t), "capture-interference.txt");
}

TEST(rule_report, pinned_free_in_flight) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    main.call("cuMemAllocHost_v2", {.object = 0x7000, .size = 4096, .stack = {"stage", "main"}});
    main.call("cuMemcpyHtoDAsync_v2",
              {.stream = 0x50, .object = 0x1000, .other = 0x7000, .size = 4096, .stack = {"send", "main"}});
    main.call("cuMemFreeHost", {.object = 0x7000, .stack = {"drop", "main"}});
    expect_golden(rendered(t), "pinned-free-in-flight.txt");
}

TEST(rule_report, user_object_over_release) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuGraphCreate", {.object = 0x100, .stack = {"build", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    main.call("cuGraphRetainUserObject",
              {.object = 0x10, .other = 0x100, .size = 1, .extra = 1, .stack = {"attach", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1, .stack = {"~owner", "main"}});
    t.thread("cuda-driver").destructor(0x10, 0x20);
    main.call("cuGraphDestroy", {.object = 0x100, .stack = {"main"}});
    expect_golden(rendered(t), "user-object-over-release.txt");
}

TEST(rule_report, handle_leak) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    for (std::uint64_t i = 0; i < 3; ++i)
        main.call("cuEventCreate", {.object = 0x60 + i, .stack = {"make_event", "step", "main"}});
    main.call("cuEventDestroy_v2", {.object = 0x60, .stack = {"drop_event", "main"}});
    main.call("cuMemPoolCreate", {.object = 0x90, .stack = {"make_pool", "main"}});
    main.call("cuStreamCreate", {.object = 0x50, .stack = {"open", "main"}});
    expect_golden(rendered(t), "handle-leak.txt");
}

TEST(rule_report, graph_exec_growth) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    for (std::uint64_t i = 0; i < 40; ++i) {
        main.call("cuGraphCreate", {.object = 0x100, .stack = {"graph_for_shape", "main"}});
        main.call("cuUserObjectCreate",
                  {.object = 0x10 + i, .other = 0x20, .size = 1, .stack = {"attach", "graph_for_shape", "main"}});
        main.call("cuGraphRetainUserObject", {.object = 0x10 + i, .other = 0x100, .size = 1, .extra = 1});
        main.call("cuGraphInstantiateWithFlags",
                  {.object = 0x1000 + i, .other = 0x100, .stack = {"graph_for_shape", "main"}});
        main.call("cuGraphDestroy", {.object = 0x100});
    }
    expect_golden(rendered(t), "graph-exec-growth.txt");
}

}  // namespace
}  // namespace lastref::test
