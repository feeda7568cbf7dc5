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

TEST(rule_report, queue_contract) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    auto driver = t.thread("cuda-driver").in({"destroy_payload", "libcuda.so.1!run"});
    main.call("cuCtxSynchronize");
    driver.call("annotation:enqueue", {.object = 0x1000, .other = 0x20});
    driver.call("annotation:schedule", {.object = 0x1000});
    driver.call("annotation:schedule_result", {.object = 0x1000, .size = 1});
    driver.call("annotation:enqueue", {.object = 0x1000, .other = 0x21});
    driver.call("annotation:schedule", {.object = 0x1000});
    driver.call("annotation:schedule_result", {.object = 0x1000, .size = 1});
    main.call("annotation:drain_begin", {.object = 0x1000, .stack = {"drain", "main"}});
    main.call("annotation:clean", {.object = 0x1000, .other = 0x21});
    main.call("annotation:drain_end", {.object = 0x1000, .size = 1});
    expect_golden(rendered(t), "queue-contract.txt");
}

TEST(rule_report, context_not_restored) {
    trace_builder t;
    auto main = t.thread("main").use(t.context(0xc0));
    t.context(0xc1);
    main.call("cuCtxSynchronize", {.stack = {"main"}});
    main.call("cuCtxSetCurrent", {.object = 0xc1, .stack = {"evaluate", "main"}});
    t.sql(
        "INSERT INTO nvtx_range (process, thread, kind, domain, message, begin, begin_event, begin_context, end,"
        " end_event, end_thread, end_context) VALUES (1, 1, 'push', 'trainer', 'evaluate', 1500000, 1, 1, 3000000, 2, "
        "1, 2)");
    expect_golden(rendered(t), "context-not-restored.txt");
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

TEST(rule_report, stale_graph_reference) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuStreamBeginCapture_v2", {.stream = 0x50, .extra = 1});
    main.call("cuMemsetD8Async", {.stream = 0x50, .object = 0x7000, .size = 64, .stack = {"step", "main"}});
    main.call("cuStreamEndCapture", {.stream = 0x50, .object = 0x100});
    main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100});
    main.call("cuGraphDestroy", {.object = 0x100});
    main.call("cuMemFree_v2", {.object = 0x7000, .stack = {"drop", "main"}});
    main.call("cuGraphLaunch", {.stream = 0x50, .object = 0x200, .stack = {"replay", "main"}});
    main.call("cuGraphExecDestroy", {.object = 0x200});
    expect_golden(rendered(t), "stale-graph-reference.txt");
}

TEST(rule_report, graph_allocation_leak) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    for (std::uint64_t i = 0; i < 3; ++i) {
        main.call("cuGraphCreate", {.object = 0x100});
        main.call(
            "cuGraphAddMemAllocNode",
            {.object = 0x900 + i, .other = 0x100, .size = 1 << 20, .extra = 0x700000 + i, .stack = {"build", "main"}});
        main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100, .extra = 1});
        main.call("cuGraphDestroy", {.object = 0x100});
        main.call("cuGraphLaunch", {.stream = 0x50, .object = 0x200, .stack = {"replay", "main"}});
        main.call("cuGraphExecDestroy", {.object = 0x200, .stack = {"drop", "main"}});
    }
    expect_golden(rendered(t), "graph-allocation-leak.txt");
}

TEST(rule_report, ptds_graph_attach) {
    trace_builder t;
    auto const context = t.context();
    auto main = t.thread("main").use(context).in({"attach", "main"});
    auto worker = t.thread("worker").use(context);
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuMemAllocAsync_ptsz", {.object = 0x7000, .size = 1 << 20});
    main.call("cuMemsetD8Async_ptsz", {.object = 0x7000, .size = 64});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x7000, .size = 1});
    main.call("cuGraphRetainUserObject", {.object = 0x10, .other = 0x100, .size = 1, .extra = 1});
    main.call("cuGraphDestroy", {.object = 0x100, .stack = {"main"}});
    t.thread("cuda-driver").destructor(0x10, 0x7000);
    worker.call("cuMemFreeAsync_ptsz", {.object = 0x7000, .stack = {"drain", "worker_loop"}});
    expect_golden(rendered(t), "ptds-graph-attach.txt");
}

TEST(rule_report, incomplete_recipe) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAllocAsync", {.stream = 1, .object = 0x7000, .size = 1 << 20, .stack = {"make", "main"}});
    main.use(t.context(0xd0, "created", 1));
    main.call("cuMemFreeAsync", {.stream = 1, .object = 0x7000, .stack = {"drop", "main"}});
    expect_golden(rendered(t), "incomplete-recipe.txt");
}

TEST(rule_report, pool_retention) {
    trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    main.call("cuMemPoolCreate", {.object = 0x90});
    main.call("cuMemAllocFromPoolAsync", {.stream = 0x50, .object = 0x7000, .other = 0x90, .size = 4 << 20});
    main.call("cuMemAllocFromPoolAsync",
              {.stream = 0x50, .object = 0x800000, .other = 0x90, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuMemFreeAsync", {.stream = 0x50, .object = 0x7000, .stack = {"drop", "main"}});
    main.call("cuMemPoolTrimTo", {.object = 0x90, .stack = {"shrink", "main"}});
    main.call("cuMemPoolGetAttribute", {.object = 0x91, .size = 1 << 30, .extra = 5, .stack = {"statistics", "main"}});
    main.call("cuMemPoolGetAttribute", {.object = 0x91, .size = 1 << 20, .extra = 7, .stack = {"statistics", "main"}});
    main.call("cuMemPoolDestroy", {.object = 0x90, .stack = {"close", "main"}});
    main.call("cuMemFreeAsync", {.stream = 0x50, .object = 0x800000});
    expect_golden(rendered(t), "pool-retention.txt");
}

TEST(rule_report, slow_callback) {
    trace_builder t;
    t.thread("main").use(t.context()).call("cuCtxSynchronize");
    auto driver = t.thread("cuda-driver");
    driver.call("callback:host_function", {.object = 0x77, .extra = 0xf0, .lasts_ms = 120});
    driver.call("callback:host_function", {.object = 0x78, .extra = 0xf0, .lasts_ms = 80});
    driver.call("callback:stream", {.object = 0x79, .extra = 0xf8, .result = std::nullopt});
    expect_golden(rendered(t), "slow-callback.txt");
}

TEST(rule_report, deferred_backlog) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    auto driver = t.thread("cuda-driver");
    for (std::uint64_t i = 0; i < 12; ++i) {
        main.call("cuMemAlloc_v2", {.object = 0x7000 + i, .size = 1 << 20, .stack = {"make", "attach", "main"}});
        main.call("cuUserObjectCreate",
                  {.object = 0x10 + i, .other = 0x7000 + i, .size = 1, .stack = {"attach", "main"}});
        main.call("cuUserObjectRelease", {.object = 0x10 + i, .size = 1});
        driver.destructor(0x10 + i, 0x7000 + i);
    }
    t.wait_ms(2000);
    for (std::uint64_t i = 0; i < 12; ++i)
        main.call("cuMemFree_v2", {.object = 0x7000 + i, .stack = {"drain", "main"}});
    expect_golden(rendered(t), "deferred-backlog.txt");
}

TEST(rule_report, ipc_order) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000, .stack = {"import", "main"}});
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000, .stack = {"import_again", "main"}});
    main.call("cuIpcCloseMemHandle", {.object = 0x7000, .stack = {"drop", "main"}});
    main.call("cuMemPoolImportFromShareableHandle", {.object = 0x90, .stack = {"import_pool", "main"}});
    main.call("cuMemPoolImportPointer", {.object = 0x8000, .other = 0x90, .stack = {"import_pointer", "main"}});
    main.call("cuMemPoolDestroy", {.object = 0x90, .stack = {"close", "main"}});
    main.call("cuMemFree_v2", {.object = 0x8000});
    expect_golden(rendered(t), "ipc-order.txt");
}

TEST(rule_report, first_error) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 1 << 20, .stack = {"make", "main"}});
    main.call("cuLaunchKernel", {.object = 0x1, .size = 1, .stack = {"step", "main"}});
    main.call("cuCtxSynchronize", {.result = 700, .stack = {"wait", "main"}});
    main.call("cuMemFree_v2", {.object = 0x7000, .result = 700, .stack = {"drop", "main"}});
    expect_golden(rendered(t), "first-error.txt");
}

TEST(rule_report, after_warm_up) {
    trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuCtxSynchronize");
    t.wait_ms(2000);
    for (int i = 0; i < 3; ++i) {
        main.call("cuMemAllocHost_v2", {.object = 0x7000, .size = 4096, .stack = {"stage", "main"}});
        main.call("cuMemFreeHost", {.object = 0x7000});
    }
    main.call("cuModuleLoadData", {.object = 0x90, .lasts_ms = 12, .stack = {"serve", "main"}});
    main.call("cuModuleUnload", {.object = 0x90});
    expect_golden(rendered(t, {1'000'000'000}), "after-warm-up.txt");
}

}  // namespace
}  // namespace lastref::test
