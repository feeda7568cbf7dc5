// Identity: what a recycled handle, a token or an address meant at the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "analyzer/model/world.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::test {
namespace {

using model::object_kind;

struct seen : model::observer {
    std::vector<model::object> made, gone;
    std::vector<model::release_cause> causes;
    std::vector<model::stream_identity> streams;
    std::size_t live_at_end = 0;
    std::function<void(model::process_state const&)> at_end;

    void on_event(model::process_state const&, model::event const& e) override {
        streams.push_back(e.stream);
        if (e.subject && e.subject->created.event == e.row.id) made.push_back(*e.subject);
    }
    void on_released(model::process_state const&, model::object const& o, model::event const&,
                     model::release_cause cause) override {
        gone.push_back(o);
        causes.push_back(cause);
    }
    void on_process_end(model::process_state const& p) override {
        live_at_end += p.objects().size();
        if (at_end) at_end(p);
    }
};

class model_events : public ::testing::Test {
  protected:
    void run() {
        auto const trace = store::trace::open(t.finish());
        model::world world(trace);
        world.add(s);
        world.run();
    }
    trace_builder t;
    thread_builder main = t.thread("main");
    seen s;
};

TEST_F(model_events, recycled_pointer_is_another_object) {
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x7000});
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 128});
    run();
    ASSERT_EQ(s.made.size(), 2u);
    EXPECT_NE(s.made[0].id, s.made[1].id);
    ASSERT_EQ(s.gone.size(), 1u);
    EXPECT_EQ(s.gone[0].id, s.made[0].id);
    EXPECT_EQ(s.live_at_end, 1u);
}

TEST_F(model_events, recycled_stream_is_another_stream) {
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x7000, .size = 64});
    main.call("cuStreamDestroy_v2", {.stream = 0x50, .object = 0x50});
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemFreeAsync", {.stream = 0x50, .object = 0x7000});
    run();
    EXPECT_FALSE(s.streams[1] == s.streams[4]);
    EXPECT_EQ(s.streams[1].kind, model::stream_kind::created);
}

TEST_F(model_events, default_streams_by_entry_point_and_token) {
    auto const context = t.context();
    main.use(context);
    auto worker = t.thread("worker").use(context);
    main.call("cuMemAllocAsync", {.object = 0x1000, .size = 1});               // null: legacy
    main.call("cuMemAllocAsync_ptsz", {.object = 0x2000, .size = 1});          // null: per thread
    main.call("cuMemAllocAsync", {.stream = 2, .object = 0x3000, .size = 1});  // the token of per thread
    main.call("cuMemAllocAsync_ptsz", {.stream = 1, .object = 0x4000, .size = 1});
    worker.call("cuMemAllocAsync_ptsz", {.object = 0x5000, .size = 1});
    main.call("cuMemAlloc_v2", {.object = 0x6000, .size = 1});  // has no stream
    run();
    EXPECT_EQ(s.streams[0].kind, model::stream_kind::legacy);
    EXPECT_EQ(s.streams[0].token, model::stream_token::null);
    EXPECT_EQ(s.streams[1].kind, model::stream_kind::per_thread);
    EXPECT_EQ(s.streams[1].token, model::stream_token::null);
    EXPECT_TRUE(s.streams[1] == s.streams[2]);
    EXPECT_EQ(s.streams[2].token, model::stream_token::per_thread);
    EXPECT_TRUE(s.streams[0] == s.streams[3]);
    EXPECT_FALSE(s.streams[1] == s.streams[4]);
    EXPECT_EQ(s.streams[5].kind, model::stream_kind::none);
}

TEST_F(model_events, per_thread_stream_differs_by_context) {
    main.use(t.context(0xc0));
    main.call("cuMemAllocAsync_ptsz", {.object = 0x1000, .size = 1});
    main.use(t.context(0xc1));
    main.call("cuMemAllocAsync_ptsz", {.object = 0x2000, .size = 1});
    run();
    EXPECT_FALSE(s.streams[0] == s.streams[1]);
}

TEST_F(model_events, failed_calls_change_nothing) {
    main.call("cuMemAlloc_v2", {.object = 0, .size = 64, .result = 2});
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x7000, .result = 1});
    run();
    EXPECT_EQ(s.made.size(), 1u);
    EXPECT_TRUE(s.gone.empty());
}

TEST_F(model_events, processes_do_not_share_handles) {
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    t.process("/build/other", 4712);
    auto other = t.thread("main");
    other.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    other.call("cuMemFree_v2", {.object = 0x7000});
    run();
    EXPECT_EQ(s.live_at_end, 1u);
}

TEST_F(model_events, context_destruction_takes_ordinary_memory_and_streams_only) {
    main.call("cuCtxCreate_v4", {.object = 0xc0});
    main.use(t.context(0xc0));
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 1});
    main.call("cuMemHostAlloc", {.object = 0x2000, .size = 1});
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x3000, .size = 1});
    main.call("cuMemCreate", {.object = 0x60, .size = 1});
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    std::vector<object_kind> left;
    s.at_end = [&](auto const& p) { p.objects().for_each([&](auto const& o) { left.push_back(o.kind); }); };
    run();
    std::sort(left.begin(), left.end());
    EXPECT_EQ(left, (std::vector{object_kind::stream_ordered, object_kind::physical}));
    EXPECT_EQ(std::count(s.causes.begin(), s.causes.end(), model::release_cause::context_destroyed), 3);
}

TEST_F(model_events, other_contexts_keep_their_memory) {
    main.use(t.context(0xc0)).call("cuMemAlloc_v2", {.object = 0x1000, .size = 1});
    main.use(t.context(0xc1)).call("cuMemAlloc_v2", {.object = 0x2000, .size = 1});
    main.call("cuCtxDestroy_v2", {.object = 0xc1});
    run();
    EXPECT_EQ(s.live_at_end, 1u);
}

TEST_F(model_events, primary_context_goes_with_its_last_release) {
    main.call("cuDevicePrimaryCtxRetain", {.object = 0xc0});
    main.call("cuDevicePrimaryCtxRetain", {.object = 0xc0});
    main.use(t.context(0xc0, "primary")).call("cuMemAlloc_v2", {.object = 0x1000, .size = 1});
    main.call("cuDevicePrimaryCtxRelease_v2");
    s.at_end = [](auto const& p) { EXPECT_EQ(p.objects().size(), 0u); };
    EXPECT_TRUE(s.gone.empty());
    main.call("cuDevicePrimaryCtxRelease_v2");
    run();
    EXPECT_EQ(s.gone.size(), 1u);
}

TEST_F(model_events, primary_context_reset_takes_its_memory) {
    main.call("cuDevicePrimaryCtxRetain", {.object = 0xc0});
    main.use(t.context(0xc0, "primary")).call("cuMemAlloc_v2", {.object = 0x1000, .size = 1});
    main.call("cuDevicePrimaryCtxReset_v2");
    run();
    EXPECT_EQ(s.live_at_end, 0u);
}

TEST_F(model_events, captured_allocation_is_no_memory_yet) {
    main.call("cuStreamCreate", {.object = 0x50});
    main.call("cuStreamBeginCapture_v2", {.stream = 0x50});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x7000, .size = 64});
    main.call("cuStreamEndCapture", {.stream = 0x50, .object = 0x100});
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x8000, .size = 64});
    s.at_end = [](auto const& p) {
        EXPECT_NE(p.graph_memory(0x7000), nullptr);
        EXPECT_EQ(p.objects().find(model::handle_space::device_pointer, 0x7000), nullptr);
        EXPECT_NE(p.objects().find(model::handle_space::device_pointer, 0x8000), nullptr);
    };
    run();
}

TEST_F(model_events, stream_that_waits_for_a_captured_event_is_captured_too) {
    main.call("cuStreamBeginCapture_v2", {.stream = 0x50});
    main.call("cuEventCreate", {.object = 0x60});
    main.call("cuEventRecord", {.stream = 0x50, .object = 0x60});
    main.call("cuStreamWaitEvent", {.stream = 0x51, .object = 0x60});
    main.call("cuMemAllocAsync", {.stream = 0x51, .object = 0x7000, .size = 64});
    main.call("cuStreamEndCapture", {.stream = 0x50, .object = 0x100});
    main.call("cuMemAllocAsync", {.stream = 0x51, .object = 0x8000, .size = 64});
    s.at_end = [](auto const& p) {
        EXPECT_EQ(p.objects().find(model::handle_space::device_pointer, 0x7000), nullptr);
        EXPECT_NE(p.objects().find(model::handle_space::device_pointer, 0x8000), nullptr);
    };
    run();
}

TEST_F(model_events, physical_memory_lives_while_it_is_mapped) {
    main.call("cuMemCreate", {.object = 0x60, .size = 64});
    main.call("cuMemMap", {.object = 0x7000, .other = 0x60, .size = 64});
    main.call("cuMemRelease", {.object = 0x60});
    main.call("cuMemCreate", {.object = 0x60, .size = 64});  // the handle's value again
    EXPECT_TRUE(s.gone.empty());
    main.call("cuMemUnmap", {.object = 0x7000, .size = 64});
    run();
    ASSERT_EQ(s.gone.size(), 2u);
    EXPECT_EQ(s.gone[0].kind, object_kind::mapping);
    EXPECT_EQ(s.gone[1].kind, object_kind::physical);
    EXPECT_EQ(s.gone[1].id, s.made[0].id);
    EXPECT_EQ(s.live_at_end, 1u);
}

TEST_F(model_events, one_unmap_covers_many_mappings) {
    main.call("cuMemCreate", {.object = 0x60, .size = 64});
    for (std::uint64_t i = 0; i < 3; ++i) main.call("cuMemMap", {.object = 0x7000 + i * 64, .other = 0x60, .size = 64});
    main.call("cuMemUnmap", {.object = 0x7000, .size = 192});
    main.call("cuMemRelease", {.object = 0x60});
    run();
    EXPECT_EQ(s.live_at_end, 0u);
}

TEST_F(model_events, memory_opened_twice_is_closed_twice) {
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000});
    main.call("cuIpcOpenMemHandle_v2", {.object = 0x7000});
    main.call("cuIpcCloseMemHandle", {.object = 0x7000});
    main.call("cuCtxGetCurrent");
    run();
    EXPECT_EQ(s.live_at_end, 1u);
    EXPECT_EQ(s.made.size(), 1u);
}

TEST_F(model_events, release_that_was_not_recorded_is_noticed) {
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    s.at_end = [](auto const& p) { EXPECT_EQ(p.unseen_releases(), 1u); };
    run();
    ASSERT_EQ(s.causes.size(), 1u);
    EXPECT_EQ(s.causes[0], model::release_cause::displaced);
}

TEST_F(model_events, stream_made_before_the_recording_has_an_identity) {
    main.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x1000, .size = 1});
    main.call("cuMemFreeAsync", {.stream = 0x50, .object = 0x1000});
    run();
    EXPECT_TRUE(s.streams[0] == s.streams[1]);
    EXPECT_TRUE(s.streams[0].stream);
}

TEST_F(model_events, uses_are_found_by_addresses_inside) {
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 0x100});
    std::vector<bool> inside;
    s.at_end = [&](auto const& p) {
        for (std::uint64_t const at : {0x6fffu, 0x7000u, 0x70ffu, 0x7100u})
            inside.push_back(p.objects().containing(at) != nullptr);
    };
    run();
    EXPECT_EQ(inside, (std::vector{false, true, true, false}));
}

TEST_F(model_events, graph_added_to_itself_does_not_grow_without_bound) {
    main.call("cuGraphCreate", {.object = 0x100});
    for (std::uint64_t i = 0; i < 40; ++i)
        main.call("cuGraphAddChildGraphNode", {.object = 0x300 + i, .other = 0x100, .extra = 0x100});
    s.at_end = [](auto const& p) { EXPECT_GT(p.graphs().parts_left_out(), 0u); };
    run();
}

TEST_F(model_events, graphs_nested_beyond_all_reason) {
    main.call("cuGraphCreate", {.object = 0x1000});
    for (std::uint64_t i = 0; i < 2000; ++i) {
        main.call("cuGraphCreate", {.object = 0x1});
        main.call("cuGraphAddChildGraphNode", {.object = 0x100000 + i, .other = 0x1000 + i, .extra = 0x1});
        main.call("cuGraphChildGraphNodeGetGraph", {.object = 0x1000 + i + 1, .other = 0x100000 + i});
        main.call("cuGraphDestroy", {.object = 0x1});
    }
    main.call("cuGraphDestroy", {.object = 0x1000});
    s.at_end = [](auto const& p) {
        std::size_t parts = 0;
        p.graphs().for_each([&](auto const&) { ++parts; });
        EXPECT_EQ(parts, 0u);
        EXPECT_GT(p.graphs().parts_left_out(), 0u);
    };
    run();
}

TEST_F(model_events, call_that_never_returned_counts_when_it_releases) {
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x7000, .result = {}});
    main.call("cuMemAlloc_v2", {.object = 0x8000, .size = 64, .result = {}});
    run();
    EXPECT_EQ(s.live_at_end, 0u);
}

}  // namespace
}  // namespace lastref::test
