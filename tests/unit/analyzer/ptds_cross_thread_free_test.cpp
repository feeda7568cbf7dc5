#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

class ptds_cross_thread_free : public rules {
  protected:
    ptds_cross_thread_free() {
        main.use(context);
        worker.use(context);
    }
    void allocate() { main.call("cuMemAllocAsync_ptsz", {.object = buffer, .size = mib, .stack = {"make", "main"}}); }
};

TEST_F(ptds_cross_thread_free, allocated_here_freed_there) {
    allocate();
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer, .stack = {"drop", "worker"}});
    auto const f = only(rule::ptds_cross_thread_free);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_EQ(f.count, 1u);
}

TEST_F(ptds_cross_thread_free, however_the_stream_is_named) {
    main.call("cuMemAllocAsync", {.stream = per_thread, .object = buffer, .size = mib});
    worker.call("cuMemFreeAsync_ptsz", {.stream = per_thread, .object = buffer});
    only(rule::ptds_cross_thread_free);
}

TEST_F(ptds_cross_thread_free, used_there_freed_here) {
    main.call("cuStreamCreate", {.object = stream});
    main.call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = mib});
    worker.call("cuMemsetD8Async_ptsz", {.object = buffer + 512, .size = 64});
    main.call("cuMemFreeAsync_ptsz", {.object = buffer});
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    EXPECT_NE(only(rule::ptds_cross_thread_free).what[0].find("last used"), std::string::npos);
}

TEST_F(ptds_cross_thread_free, on_its_own_thread_is_none) {
    allocate();
    main.call("cuMemFreeAsync_ptsz", {.object = buffer});
    expect_nothing();
}

TEST_F(ptds_cross_thread_free, after_the_host_waited_is_none) {
    allocate();
    main.call("cuStreamSynchronize_ptsz");
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    expect_nothing();
}

TEST_F(ptds_cross_thread_free, after_waiting_for_another_stream_it_still_is) {
    allocate();
    main.call("cuStreamSynchronize", {.stream = stream});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    only(rule::ptds_cross_thread_free);
}

TEST_F(ptds_cross_thread_free, after_a_context_synchronization_is_none) {
    allocate();
    worker.call("cuCtxSynchronize");
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    expect_nothing();
}

TEST_F(ptds_cross_thread_free, after_an_event_was_waited_for_is_none) {
    allocate();
    main.call("cuEventCreate", {.object = 0x60});
    main.call("cuEventRecord_ptsz", {.object = 0x60});
    worker.call("cuEventSynchronize", {.object = 0x60});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    main.call("cuEventDestroy_v2", {.object = 0x60});
    expect_nothing();
}

TEST_F(ptds_cross_thread_free, use_after_the_wait_counts_again) {
    allocate();
    main.call("cuStreamSynchronize_ptsz");
    main.call("cuMemsetD8Async_ptsz", {.object = buffer, .size = 64});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer});
    only(rule::ptds_cross_thread_free);
}

TEST_F(ptds_cross_thread_free, on_the_legacy_stream_is_none) {
    allocate();
    worker.call("cuMemFreeAsync", {.object = buffer});
    expect_nothing();
}

TEST_F(ptds_cross_thread_free, synchronous_free_is_none) {
    allocate();
    worker.call("cuMemFree_v2", {.object = buffer});
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
