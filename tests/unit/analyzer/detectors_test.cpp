// Each rule with programs that have the fault and programs that look alike and are healthy.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/analyse.h"

namespace lastref::test {
namespace {

using findings::confidence;
using findings::finding;
using findings::rule;
using findings::severity;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t legacy = 1, per_thread = 2;
constexpr std::uint64_t stream = 0x50;
constexpr std::uint64_t buffer = 0x7f0000000000;
constexpr int after_exit = 8, after_teardown = 16;

class rules : public ::testing::Test {
  protected:
    findings::analysis const& what() {
        if (!analysed_) analysed_ = analyse(t);
        return *analysed_;
    }
    std::vector<finding> found(rule r) { return of_rule(what(), r); }

    // The one finding of the rule, and no other finding at all.
    finding only(rule r) {
        auto const all = found(r);
        EXPECT_EQ(all.size(), 1u) << titles(what());
        EXPECT_EQ(what().found.size(), 1u) << titles(what());
        return all.empty() ? finding{} : all.front();
    }
    void expect_nothing() { EXPECT_TRUE(what().found.empty()) << titles(what()); }

    trace_builder t;
    thread_builder main = t.thread("main");
    thread_builder worker = t.thread("worker");
    std::int64_t context = t.context();

  private:
    std::optional<findings::analysis> analysed_;
};

// --- failed-free ---------------------------------------------------------------------------------------------------

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

TEST_F(failed_free, inside_a_callback) {
    allocate();
    free({.result = 800, .flags = 1});
    EXPECT_NE(only(rule::failed_free).why.find("callback"), std::string::npos);
}

TEST_F(failed_free, during_a_capture) {
    allocate();
    free({.stream = legacy, .result = 906});
    EXPECT_NE(only(rule::failed_free).why.find("capture"), std::string::npos);
}

TEST_F(failed_free, second_free_names_the_first) {
    allocate();
    main.call("cuMemFreeAsync_ptsz", {.object = buffer, .stack = {"first", "main"}});
    free({.result = 1});
    auto const f = only(rule::failed_free);
    EXPECT_EQ(f.bytes, 0u);
    EXPECT_NE(f.title.find("released before"), std::string::npos) << f.title;
    EXPECT_EQ(f.sites.back().role, "released before");
}

TEST_F(failed_free, of_a_graphs_memory) {
    main.use(context).call("cuStreamBeginCapture_v2", {.stream = stream});
    main.call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = mib});
    main.call("cuStreamEndCapture", {.stream = stream, .object = 0x100});
    free({.result = 1});
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

TEST_F(failed_free, handle_of_nothing_known) {
    free({.result = 1});
    EXPECT_NE(only(rule::failed_free).title.find("nothing that is known"), std::string::npos);
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

// --- user-object-leak (the ways of references are tested in ledger_test.cpp)
// -------------------------------------------

class user_object_leak : public rules {
  protected:
    void held_by_an_executable_graph() {
        main.use(context);
        main.call("cuGraphCreate", {.object = 0x100, .stack = {"build", "main"}});
        main.call("cuMemAllocAsync",
                  {.stream = stream, .object = buffer, .size = mib, .stack = {"make_payload", "attach", "main"}});
        main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject",
                  {.object = 0x10, .other = 0x100, .size = 1, .extra = 1, .stack = {"attach", "main"}});
        main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100, .stack = {"build", "main"}});
        main.call("cuGraphDestroy", {.object = 0x100});
    }
};

TEST_F(user_object_leak, held_by_an_executable_graph_with_its_payload_as_consequence) {
    held_by_an_executable_graph();
    auto const f = only(rule::user_object_leak);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::proven);
    EXPECT_NE(f.title.find("executable graph"), std::string::npos) << f.title;
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.consequences[0].from, rule::allocation_leak);
    EXPECT_EQ(f.consequences[0].bytes, mib);
    ASSERT_EQ(f.sites.size(), 2u);
    EXPECT_EQ(f.sites[1].role, "instantiated");
}

TEST_F(user_object_leak, memory_far_from_the_user_object_is_a_finding_of_its_own) {
    main.use(context);
    main.call("cuMemAlloc_v2",
              {.object = buffer, .size = mib, .stack = {"load", "setup", "start", "a", "b", "c", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    EXPECT_EQ(found(rule::user_object_leak).size(), 1u);
    EXPECT_TRUE(found(rule::user_object_leak)[0].consequences.empty());
    EXPECT_EQ(found(rule::allocation_leak).size(), 1u);
}

TEST_F(user_object_leak, killed_process_is_only_possible) {
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1});
    t.ends("abrupt", {}, 9);
    auto const f = only(rule::user_object_leak);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_NE(f.confidence_reason.find("signal 9"), std::string::npos) << f.confidence_reason;
}

TEST_F(user_object_leak, all_from_one_place_are_one_finding) {
    for (std::uint64_t i = 0; i < 50; ++i)
        main.call("cuUserObjectCreate", {.object = 0x1000 + i, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    EXPECT_EQ(only(rule::user_object_leak).count, 50u);
}

TEST_F(user_object_leak, healthy_twin) {
    held_by_an_executable_graph();
    main.call("cuGraphExecDestroy", {.object = 0x200});
    worker.destructor(0x10, 0x20);
    main.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    expect_nothing();
}

// --- allocation-leak -----------------------------------------------------------------------------------------------

class allocation_leak : public rules {};

TEST_F(allocation_leak, kept_by_the_program_until_exit_is_a_possible_warning) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"setup", "main"}});
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_EQ(f.bytes, mib);
}

TEST_F(allocation_leak, kept_by_libraries_is_one_note_for_each) {
    for (std::uint64_t i = 0; i < 30; ++i)
        main.use(context).call("cuMemAlloc_v2",
                               {.object = buffer + i * mib,
                                .size = mib,
                                .stack = {"libc10_cuda.so!allocate", "step" + std::to_string(i), "main"}});
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.count, 30u);
    EXPECT_NE(f.title.find("libc10_cuda.so kept 30 MiB"), std::string::npos) << f.title;
}

TEST_F(allocation_leak, growth_through_the_run_is_an_error_even_in_a_library) {
    for (std::uint64_t i = 0; i < 100; ++i)
        main.use(context).call(
            "cuMemAlloc_v2", {.object = buffer + i * mib, .size = mib, .stack = {"libx.so!allocate", "step", "main"}});
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.count, 100u);
    EXPECT_NE(f.title.find("growing"), std::string::npos) << f.title;
}

TEST_F(allocation_leak, cache_at_its_plateau_is_not_growing) {
    for (std::uint64_t i = 0; i < 200; ++i) {
        main.use(context).call("cuMemAlloc_v2",
                               {.object = buffer + i * mib, .size = mib, .stack = {"libx.so!allocate", "main"}});
        if (i >= 20) main.call("cuMemFree_v2", {.object = buffer + (i - 20) * mib});
    }
    auto const f = only(rule::allocation_leak);
    EXPECT_NE(f.severity, severity::error);
    EXPECT_EQ(f.count, 20u);
}

TEST_F(allocation_leak, set_up_at_the_start_is_not_growing) {
    for (std::uint64_t i = 0; i < 50; ++i)
        main.use(context).call("cuMemAlloc_v2",
                               {.object = buffer + i * mib, .size = mib, .stack = {"load_weights", "main"}});
    t.wait_ms(5000);
    main.call("cuCtxSynchronize");
    EXPECT_NE(only(rule::allocation_leak).severity, severity::error);
}

TEST_F(allocation_leak, forgotten_beside_others_that_were_freed_is_likely) {
    for (std::uint64_t i = 0; i < 6; ++i) {
        main.use(context).call("cuMemAlloc_v2",
                               {.object = buffer + i * mib, .size = mib, .stack = {"make_buffer", "main"}});
        if (i != 3) main.call("cuMemFree_v2", {.object = buffer + i * mib});
    }
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.count, 1u);
    EXPECT_NE(f.what[1].find("Of 6 allocations made there, 5 were freed"), std::string::npos) << f.what[1];
}

TEST_F(allocation_leak, each_kind_of_memory) {
    main.use(context);
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
    main.call("cuMemAllocFromPoolAsync", {.stream = stream, .object = 0x2000, .other = 0x99, .size = 64});
    main.call("cuMemAllocManaged", {.object = 0x3000, .size = 64});
    main.call("cuMemHostAlloc", {.object = 0x4000, .size = 64});
    main.call("cuMemHostRegister_v2", {.object = 0x5000, .size = 64});
    main.call("cuMemCreate", {.object = 0x60, .size = 64});
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000});
    main.call("cuArrayCreate_v2", {.object = 0x80, .size = 64});
    EXPECT_EQ(found(rule::allocation_leak).size(), 8u) << titles(what());
}

TEST_F(allocation_leak, each_kind_of_memory_released) {
    main.use(context);
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x1000});
    main.call("cuMemAllocFromPoolAsync", {.stream = stream, .object = 0x2000, .other = 0x99, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x2000});  // measured: frees stream-ordered memory as well
    main.call("cuMemAllocManaged", {.object = 0x3000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x3000});
    main.call("cuMemHostAlloc", {.object = 0x4000, .size = 64});
    main.call("cuMemFreeHost", {.object = 0x4000});
    main.call("cuMemHostRegister_v2", {.object = 0x5000, .size = 64});
    main.call("cuMemHostUnregister", {.object = 0x5000});
    main.call("cuMemCreate", {.object = 0x60, .size = 64});
    main.call("cuMemAddressReserve", {.object = 0x6000, .size = 64});
    main.call("cuMemMap", {.object = 0x6000, .other = 0x60, .size = 64});
    main.call("cuMemUnmap", {.object = 0x6000, .size = 64});
    main.call("cuMemAddressFree", {.object = 0x6000, .size = 64});
    main.call("cuMemRelease", {.object = 0x60});
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000});
    main.call("cuIpcCloseMemHandle", {.object = 0x7000});
    main.call("cuArrayCreate_v2", {.object = 0x80, .size = 64});
    main.call("cuArrayDestroy", {.object = 0x80});
    expect_nothing();
}

TEST_F(allocation_leak, released_by_its_context_is_none) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    expect_nothing();
}

TEST_F(allocation_leak, stream_ordered_memory_survives_its_context) {
    main.use(context).call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = mib});
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    only(rule::allocation_leak);
}

TEST_F(allocation_leak, payload_that_was_never_drained) {
    main.use(context);
    main.call("cuMemAllocAsync",
              {.stream = stream, .object = buffer, .size = mib, .stack = {"make_payload", "attach", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1});
    worker.destructor(0x10, 0x20);
    t.wait_ms(100);
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::possible);
    EXPECT_NE(f.what[1].find("destructor ran at"), std::string::npos) << f.what[1];
    EXPECT_EQ(f.sites.back().role, "user object created");
}

TEST_F(allocation_leak, payload_that_is_the_memory_itself_is_likely) {
    main.use(context);
    main.call("cuMemAllocAsync",
              {.stream = stream, .object = buffer, .size = mib, .stack = {"somewhere", "else", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = buffer, .size = 1, .stack = {"attach", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1});
    worker.destructor(0x10, buffer);
    EXPECT_EQ(only(rule::allocation_leak).confidence, confidence::likely);
}

TEST_F(allocation_leak, payload_that_was_drained) {
    main.use(context);
    main.call("cuMemAllocAsync",
              {.stream = stream, .object = buffer, .size = mib, .stack = {"make_payload", "attach", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1});
    worker.destructor(0x10, 0x20);
    main.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    expect_nothing();
}

TEST_F(allocation_leak, killed_process_has_notes_only) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    t.ends("abrupt", {}, 9);
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.confidence, confidence::possible);
}

TEST_F(allocation_leak, ranks_of_a_job_share_a_finding) {
    for (std::int64_t pid : {1, 2, 3}) {
        t.process("/build/demo", 100 + pid);
        auto thread = t.thread("main");
        thread.use(t.context()).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"setup", "main"}});
    }
    auto const f = only(rule::allocation_leak);
    EXPECT_EQ(f.processes, 3u);
    EXPECT_EQ(f.bytes, 3 * mib);
}

// --- shutdown-release ----------------------------------------------------------------------------------------------

class shutdown_release : public rules {};

TEST_F(shutdown_release, refused_after_teardown) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"setup", "main"}});
    main.call("cuMemFree_v2",
              {.object = buffer, .result = 4, .flags = after_exit | after_teardown, .stack = {"~cache", "exit"}});
    auto const f = only(rule::shutdown_release);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_EQ(f.sites[0].role, "refused");
}

TEST_F(shutdown_release, by_an_installed_library_is_a_note) {
    main.call("cuModuleLoadData", {.object = 0x90});
    main.call("cuModuleUnload", {.object = 0x90,
                                 .result = 4,
                                 .flags = after_exit | after_teardown,
                                 .stack = {"libcudart.so.13!unload", "libc.so.6!exit"}});
    EXPECT_EQ(only(rule::shutdown_release).severity, severity::note);
}

TEST_F(shutdown_release, released_by_an_exit_handler_is_a_note) {
    for (std::uint64_t i = 0; i < 3; ++i)
        main.use(context).call("cuMemAlloc_v2", {.object = buffer + i * mib, .size = mib});
    for (std::uint64_t i = 0; i < 3; ++i)
        main.call("cuMemFree_v2",
                  {.object = buffer + i * mib, .flags = after_exit, .stack = {"~pool" + std::to_string(i), "exit"}});
    auto const f = only(rule::shutdown_release);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.count, 3u);
}

TEST_F(shutdown_release, destructor_after_main) {
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1});
    t.phase("exit_begin");
    worker.destructor(0x10, 0x20, after_exit);
    auto const f = only(rule::shutdown_release);
    EXPECT_EQ(f.severity, severity::warning);
}

TEST_F(shutdown_release, released_before_exit_is_none) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuMemFree_v2", {.object = buffer});
    t.phase("exit_begin");
    main.call("cuCtxGetCurrent", {.result = 4, .flags = after_exit | after_teardown});
    expect_nothing();
}

// --- ptds-cross-thread-free ------------------------------------------------------------------------------------------

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

// --- together --------------------------------------------------------------------------------------------------------

TEST_F(rules, most_important_first) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"setup", "main"}});
    main.call("cuMemAlloc_v2", {.object = buffer + mib, .size = mib, .stack = {"libx.so!keep", "main"}});
    main.call("cuMemAllocAsync_ptsz", {.object = buffer + 2 * mib, .size = mib, .stack = {"make", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer + 2 * mib, .result = 201, .stack = {"drop"}});
    ASSERT_EQ(what().found.size(), 3u) << titles(what());
    EXPECT_EQ(what().found[0].severity, severity::error);
    EXPECT_EQ(what().found[1].severity, severity::warning);
    EXPECT_EQ(what().found[2].severity, severity::note);
}

TEST_F(rules, memory_whose_free_failed_is_not_a_leak_too) {
    main.use(context).call("cuMemAllocAsync_ptsz", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer, .result = 201});
    only(rule::failed_free);
}

TEST(fingerprint, is_the_same_wherever_the_program_was_loaded) {
    auto const fingerprint = [](std::int64_t bias, std::uint64_t pointer) {
        trace_builder t;
        auto main = t.thread("main");
        main.use(t.context()).call("cuMemAlloc_v2", {.object = pointer, .size = 1, .stack = {"setup", "main"}});
        auto const by = std::to_string(bias);
        t.sql("UPDATE frame SET address = address + " + by);
        t.sql("UPDATE module SET load_bias = load_bias + " + by + ", first_address = first_address + " + by);
        auto const what = analyse(t);
        return what.found.empty() ? std::string{} : what.found[0].fingerprint;
    };
    auto const first = fingerprint(0, 0x1000);
    EXPECT_EQ(first.size(), 16u);
    EXPECT_EQ(first, fingerprint(0x10000, 0x2000));
}

TEST(fingerprint, differs_by_place) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 1, .stack = {"one", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 1, .stack = {"two", "main"}});
    auto const what = analyse(t);
    ASSERT_EQ(what.found.size(), 2u);
    EXPECT_NE(what.found[0].fingerprint, what.found[1].fingerprint);
}

}  // namespace
}  // namespace lastref::test
