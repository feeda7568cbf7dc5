// How the rules on order read: one golden report for each.
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

}  // namespace
}  // namespace lastref::test
