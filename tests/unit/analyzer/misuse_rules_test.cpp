// double-free, cuda-call-in-callback, capture-interference, pinned-free-in-flight, user-object-over-release.
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

constexpr int in_callback = 1;

class double_free : public rules {
  protected:
    double_free() { main.use(context); }
};

TEST_F(double_free, second_free_names_the_first) {
    main.call("cuMemAllocAsync_ptsz", {.object = buffer, .size = mib, .stack = {"make_buffer", "main"}});
    main.call("cuMemFreeAsync_ptsz", {.object = buffer, .stack = {"first", "main"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = buffer, .result = 1, .stack = {"second"}});
    auto const f = only(rule::double_free);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::proven);
    EXPECT_NE(f.title.find("released before"), std::string::npos) << f.title;
    ASSERT_EQ(f.sites.size(), 3u);
    EXPECT_EQ(f.sites[1].role, "released before");
}

TEST_F(double_free, handle_of_nothing_known_is_likely_only) {
    worker.call("cuMemFree_v2", {.object = buffer, .result = 1});
    auto const f = only(rule::double_free);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_NE(f.title.find("never made"), std::string::npos) << f.title;
}

TEST_F(double_free, of_streams_and_graphs_as_well) {
    main.call("cuStreamCreate", {.object = stream});
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream, .result = 400});
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuGraphDestroy", {.object = 0x100});
    main.call("cuGraphDestroy", {.object = 0x100, .result = 1});
    EXPECT_EQ(found(rule::double_free).size(), 2u) << titles(what());
    EXPECT_EQ(what().found.size(), 2u) << titles(what());
}

TEST_F(double_free, by_a_library_is_a_warning_and_by_the_runtime_a_note) {
    for (auto const* by : {"libx.so!drop", "libcudart.so.13!unload"}) {
        main.call("cuModuleLoadData", {.object = 0x90});
        main.call("cuModuleUnload", {.object = 0x90, .stack = {"first", "main"}});
        main.call("cuModuleUnload", {.object = 0x90, .result = 400, .stack = {by, "libc.so.6!exit"}});
    }
    auto const all = found(rule::double_free);
    ASSERT_EQ(all.size(), 2u) << titles(what());
    EXPECT_EQ(all[0].severity, severity::warning);
    EXPECT_EQ(all[1].severity, severity::note);
}

TEST_F(double_free, the_same_address_allocated_again_is_none) {
    for (int i = 0; i < 2; ++i) {
        main.call("cuMemAlloc_v2", {.object = buffer, .size = mib});
        main.call("cuMemFree_v2", {.object = buffer});
    }
    expect_nothing();
}

TEST_F(double_free, refused_for_another_reason_is_a_failed_free) {
    main.call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    worker.call("cuMemFree_v2", {.object = buffer, .result = 201});
    only(rule::failed_free);
}

class cuda_call_in_callback : public rules {
  protected:
    void destructor_runs() {
        main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1});
        main.call("cuUserObjectRelease", {.object = 0x10, .size = 1});
        worker.destructor(0x10, 0x20);
    }
};

TEST_F(cuda_call_in_callback, refused_with_what_it_left_behind) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    destructor_runs();
    worker.call("cuMemFree_v2", {.object = buffer, .result = 800, .flags = in_callback, .stack = {"~payload"}});
    auto const f = only(rule::cuda_call_in_callback);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_NE(f.title.find("user-object destructor"), std::string::npos) << f.title;
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.consequences[0].from, rule::failed_free);
    EXPECT_EQ(f.bytes, mib);
}

TEST_F(cuda_call_in_callback, refused_and_made_good_leaves_nothing_behind) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    destructor_runs();
    worker.call("cuMemFree_v2", {.object = buffer, .result = 800, .flags = in_callback});
    main.call("cuMemFree_v2", {.object = buffer});
    auto const f = only(rule::cuda_call_in_callback);
    EXPECT_TRUE(f.consequences.empty());
    EXPECT_EQ(f.bytes, 0u);
}

TEST_F(cuda_call_in_callback, any_call_counts_once_a_place) {
    main.use(context);
    for (int i = 0; i < 3; ++i) {
        worker.call("callback:host_function", {.object = 0x77, .extra = 0xf0});
        worker.call("cuStreamQuery", {.stream = stream, .result = 800, .flags = in_callback, .stack = {"on_done"}});
    }
    auto const f = only(rule::cuda_call_in_callback);
    EXPECT_EQ(f.count, 3u);
    EXPECT_NE(f.title.find("host function"), std::string::npos) << f.title;
}

TEST_F(cuda_call_in_callback, calls_of_the_same_thread_after_the_callback_are_none) {
    worker.call("callback:stream", {.object = 0x77, .extra = 0xf0});
    worker.use(context).call("cuCtxSynchronize");
    expect_nothing();
}

class capture_interference : public rules {
  protected:
    void begin(std::uint64_t mode) {
        main.use(context).call("cuStreamBeginCapture_v2",
                               {.stream = stream, .extra = mode, .stack = {"capture", "main"}});
    }
    void end(std::int64_t result) {
        main.call("cuStreamEndCapture", {.stream = stream, .object = result == 0 ? 0x100u : 0u, .result = result});
        if (result == 0) main.call("cuGraphDestroy", {.object = 0x100});
    }
};

TEST_F(capture_interference, free_of_another_thread_breaks_a_global_capture) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    begin(0);
    worker.use(context).call("cuMemFree_v2", {.object = buffer, .result = 900, .stack = {"drop", "loop"}});
    end(901);
    auto const f = only(rule::capture_interference);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_NE(f.title.find("cuMemFree on another thread"), std::string::npos) << f.title;
    EXPECT_EQ(f.sites[0].role, "broke the capture");
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.bytes, mib);
}

TEST_F(capture_interference, own_threads_call_on_the_legacy_stream) {
    begin(1);
    main.call("cuMemsetD8Async", {.object = 0x1, .size = 1, .result = 906});
    end(901);
    EXPECT_NE(only(rule::capture_interference).title.find("cuMemsetD8Async"), std::string::npos);
}

TEST_F(capture_interference, the_first_refused_call_is_blamed) {
    begin(0);
    main.call("cuMemAlloc_v2", {.size = 1, .result = 900});
    main.call("cuMemsetD8Async", {.stream = stream, .object = 0x1, .size = 1, .result = 901});
    end(901);
    EXPECT_NE(only(rule::capture_interference).title.find("cuMemAlloc"), std::string::npos);
}

TEST_F(capture_interference, forked_stream_that_was_not_joined) {
    begin(1);
    end(904);
    EXPECT_NE(only(rule::capture_interference).why.find("not joined"), std::string::npos);
}

TEST_F(capture_interference, free_of_another_thread_beside_a_thread_local_capture_is_none) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    begin(1);
    worker.use(context).call("cuMemFree_v2", {.object = buffer});
    end(0);
    expect_nothing();
}

class pinned_free_in_flight : public rules {
  protected:
    pinned_free_in_flight() {
        main.use(context);
        main.call("cuStreamCreate", {.object = stream});
        main.call("cuMemAllocHost_v2", {.object = host, .size = mib, .stack = {"make", "main"}});
    }
    void copy() { main.call("cuMemcpyDtoHAsync_v2", {.stream = stream, .object = host + 64, .other = 1, .size = 64}); }
    void free() {
        main.call("cuMemFreeHost", {.object = host, .stack = {"drop", "main"}});
        main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    }
    static constexpr std::uint64_t host = 0x600000;
};

TEST_F(pinned_free_in_flight, copy_into_the_middle_of_it) {
    copy();
    free();
    auto const f = only(rule::pinned_free_in_flight);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_EQ(f.sites.size(), 3u);
}

TEST_F(pinned_free_in_flight, copy_from_it) {
    main.call("cuMemcpyHtoDAsync_v2", {.stream = stream, .object = 1, .other = host, .size = 64});
    free();
    only(rule::pinned_free_in_flight);
}

TEST_F(pinned_free_in_flight, registered_memory) {
    main.call("cuMemHostRegister_v2", {.object = 0x900000, .size = mib});
    main.call("cuMemcpyHtoDAsync_v2", {.stream = stream, .object = 1, .other = 0x900000, .size = 64});
    main.call("cuMemHostUnregister", {.object = 0x900000});
    free();
    EXPECT_NE(only(rule::pinned_free_in_flight).title.find("unregistered"), std::string::npos);
}

TEST_F(pinned_free_in_flight, after_the_stream_was_waited_for_is_none) {
    copy();
    main.call("cuStreamSynchronize", {.stream = stream, .object = stream});
    free();
    expect_nothing();
}

TEST_F(pinned_free_in_flight, after_an_event_was_waited_for_is_none) {
    main.call("cuEventCreate", {.object = 0x60});
    copy();
    main.call("cuEventRecord", {.stream = stream, .object = 0x60});
    main.call("cuEventSynchronize", {.object = 0x60});
    main.call("cuEventDestroy_v2", {.object = 0x60});
    free();
    expect_nothing();
}

TEST_F(pinned_free_in_flight, an_event_recorded_before_the_copy_is_not_enough) {
    main.call("cuEventCreate", {.object = 0x60});
    main.call("cuEventRecord", {.stream = stream, .object = 0x60});
    copy();
    main.call("cuEventSynchronize", {.object = 0x60});
    main.call("cuEventDestroy_v2", {.object = 0x60});
    free();
    only(rule::pinned_free_in_flight);
}

TEST_F(pinned_free_in_flight, a_copy_that_returns_when_it_is_done_is_none) {
    main.call("cuMemcpyDtoH_v2", {.object = host, .other = 1, .size = 64});
    free();
    expect_nothing();
}

class user_object_over_release : public rules {
  protected:
    void create(std::uint64_t count) {
        main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = count, .stack = {"attach", "main"}});
    }
    void release(std::uint64_t count) {
        main.call("cuUserObjectRelease", {.object = 0x10, .size = count, .stack = {"detach", "main"}});
    }
    void into_graph(std::uint64_t flags) {
        main.call("cuGraphCreate", {.object = 0x100});
        main.call("cuGraphRetainUserObject", {.object = 0x10, .other = 0x100, .size = 1, .extra = flags});
    }
};

TEST_F(user_object_over_release, moved_into_a_graph_and_released_as_well) {
    create(1);
    into_graph(1);
    release(1);
    worker.destructor(0x10, 0x20);
    main.call("cuGraphDestroy", {.object = 0x100});
    auto const f = only(rule::user_object_over_release);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.sites[1].role, "moved into a graph");
}

TEST_F(user_object_over_release, so_often_that_the_destructor_never_runs) {
    create(1);
    release(2);
    auto const f = only(rule::user_object_over_release);
    EXPECT_NE(f.what.back().find("had not run"), std::string::npos);
}

TEST_F(user_object_over_release, by_a_graph_that_holds_none) {
    create(1);
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuGraphReleaseUserObject", {.object = 0x10, .other = 0x100, .size = 1, .stack = {"drop", "main"}});
    main.call("cuGraphDestroy", {.object = 0x100});
    release(1);
    worker.destructor(0x10, 0x20);
    EXPECT_NE(only(rule::user_object_over_release).title.find("by the graph"), std::string::npos);
}

TEST_F(user_object_over_release, retained_for_the_graph_and_released_is_none) {
    create(1);
    into_graph(0);
    release(1);
    main.call("cuGraphDestroy", {.object = 0x100});
    worker.destructor(0x10, 0x20);
    expect_nothing();
}

// The retain began before the release and returned after it: it is recorded behind it.
TEST_F(user_object_over_release, retain_of_another_thread_recorded_late_is_none) {
    create(1);
    release(2);
    worker.call("cuUserObjectRetain", {.object = 0x10, .size = 1, .lasts_ms = 2});
    worker.destructor(0x10, 0x20);
    EXPECT_TRUE(found(rule::user_object_over_release).empty()) << titles(what());
}

}  // namespace
}  // namespace lastref::test
