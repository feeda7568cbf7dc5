#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

class failed_free : public rules {
  protected:
    void allocate() {
        main.use(context).call("cuMemAllocAsync_ptsz",
                               {.object = buffer, .size = mib, .stack = {"make_buffer", "main"}});
    }
    void free(test::call what) {
        what.object = buffer;
        if (what.stack.empty()) what.stack = {"drop_buffer", "worker_loop"};
        worker.call("cuMemFreeAsync_ptsz", what);
    }
};

TEST_F(failed_free, without_context_on_a_default_stream_token) {
    allocate();
    free({.result = 201});
    auto const f = only(rule::failed_free);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::proven);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_NE(f.what[0].find("no current context"), std::string::npos) << f.what[0];
    EXPECT_NE(f.why.find("default stream of the thread's current context"), std::string::npos) << f.why;
    ASSERT_EQ(f.sites.size(), 2u);
    EXPECT_EQ(f.sites[0].role, "refused");
    EXPECT_EQ(f.sites[1].role, "allocated");
}

TEST_F(failed_free, made_good_by_a_retry) {
    allocate();
    free({.result = 201});
    main.call("cuMemFreeAsync_ptsz", {.object = buffer});
    expect_nothing();
}

TEST_F(failed_free, retry_of_another_object_makes_nothing_good) {
    allocate();
    free({.result = 201});
    main.call("cuMemAllocAsync_ptsz", {.object = buffer + mib, .size = mib, .stack = {"make_buffer", "main"}});
    main.call("cuMemFreeAsync_ptsz", {.object = buffer + mib});
    EXPECT_EQ(only(rule::failed_free).bytes, mib);
}

TEST_F(failed_free, many_from_one_place_are_one_finding) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        main.use(context).call("cuMemAllocAsync_ptsz",
                               {.object = buffer + i * mib, .size = mib, .stack = {"make_buffer", "main"}});
        worker.call("cuMemFreeAsync_ptsz",
                    {.object = buffer + i * mib, .result = 201, .stack = {"drop_buffer", "worker_loop"}});
    }
    auto const f = only(rule::failed_free);
    EXPECT_EQ(f.count, 20u);
    EXPECT_EQ(f.bytes, 20 * mib);
    EXPECT_EQ(f.objects.size(), findings::most_objects);
}

TEST_F(failed_free, repeated_attempts_count_once) {
    allocate();
    for (int i = 0; i < 5; ++i) free({.result = 201});
    auto const f = only(rule::failed_free);
    EXPECT_EQ(f.count, 1u);
    EXPECT_NE(f.title.find("5 times"), std::string::npos) << f.title;
}

TEST_F(failed_free, during_a_capture) {
    allocate();
    free({.stream = legacy, .result = 906});
    EXPECT_NE(only(rule::failed_free).why.find("capture"), std::string::npos);
}

TEST_F(failed_free, of_a_graphs_memory) {
    main.use(context).call("cuStreamBeginCapture_v2", {.stream = stream});
    main.call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = mib});
    main.call("cuStreamEndCapture", {.stream = stream, .object = 0x100});
    free({.result = 1});
    main.call("cuGraphDestroy", {.object = 0x100});
    EXPECT_NE(only(rule::failed_free).title.find("belongs to a graph"), std::string::npos);
}

TEST_F(failed_free, address_inside_an_allocation) {
    allocate();
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer + 512, .result = 1, .stack = {"drop_part", "worker_loop"}});
    main.call("cuMemFreeAsync_ptsz", {.object = buffer});
    auto const f = only(rule::failed_free);
    EXPECT_NE(f.title.find("inside an allocation"), std::string::npos) << f.title;
    EXPECT_EQ(f.bytes, 0u);
}

TEST_F(failed_free, default_pool_with_the_handle_of_a_destroyed_one) {
    main.call("cuMemPoolCreate", {.object = 0x90});
    main.call("cuMemPoolDestroy", {.object = 0x90});
    main.call("cuDeviceGetDefaultMemPool", {.object = 0x90, .extra = 1});
    main.call("cuMemPoolDestroy", {.object = 0x90, .result = 1});
    EXPECT_NE(only(rule::failed_free).why.find("default pool"), std::string::npos);
}

TEST_F(failed_free, object_that_went_with_its_context_is_a_warning) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    worker.call("cuMemFree_v2", {.object = buffer, .result = 700});
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    auto const f = only(rule::failed_free);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.bytes, 0u);
}

TEST_F(failed_free, after_teardown_belongs_to_shutdown_release) {
    allocate();
    free({.result = 4, .flags = after_exit | after_teardown});
    only(rule::shutdown_release);
}

TEST_F(failed_free, free_of_null_is_nothing) {
    main.call("cuMemFree_v2", {.object = 0, .result = 1});
    expect_nothing();
}

TEST_F(failed_free, unregister_and_destroy_count_as_well) {
    main.call("cuMemHostRegister_v2", {.object = 0x1000, .size = 4096});
    main.call("cuMemHostUnregister", {.object = 0x1000, .result = 201});
    main.call("cuStreamCreate", {.object = stream});
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream, .result = 400});
    EXPECT_EQ(found(rule::failed_free).size(), 2u) << titles(what());
    EXPECT_EQ(what().found.size(), 2u) << titles(what());
}

}  // namespace
}  // namespace lastref::test
