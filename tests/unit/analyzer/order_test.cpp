// What orders a free after a use of the memory on another stream, an edge at a time: with the edge there is nothing to
// report, without it there is.
#include "tests/unit/analyzer/order_fixture.h"

namespace lastref::test {
namespace {

TEST_F(order, two_streams_have_none) {
    allocate();
    use();
    free_on(b);
    auto const f = expect_unordered();
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.sites.size(), 3u);
    EXPECT_EQ(f.bytes, mib);
}

TEST_F(order, of_one_stream) {
    allocate();
    use();
    free_on(a);
    expect_ordered();
}

TEST_F(order, the_allocation_alone_counts) {
    allocate();
    free_on(b);
    expect_unordered();
}

TEST_F(order, by_an_event) {
    allocate();
    use();
    record(event, a);
    wait(b, event);
    free_on(b);
    expect_ordered();
}

TEST_F(order, not_by_an_event_recorded_before_the_use) {
    allocate();
    record(event, a);
    use();
    wait(b, event);
    free_on(b);
    auto const f = expect_unordered();
    EXPECT_NE(f.what[1].find("had waited for what stream 0x50 was given up to"), std::string::npos) << f.what[1];
}

TEST_F(order, not_by_an_event_of_another_stream) {
    allocate();
    use();
    record(event, c);
    wait(b, event);
    free_on(b);
    expect_unordered();
}

TEST_F(order, not_by_an_event_that_was_recorded_again_elsewhere) {
    allocate();
    use();
    record(event, a);
    record(event, c);
    wait(b, event);
    free_on(b);
    expect_unordered();
}

TEST_F(order, not_by_a_wait_that_comes_too_late) {
    allocate();
    use();
    record(event, a);
    free_on(b);
    wait(b, event);
    expect_unordered();
}

TEST_F(order, not_by_a_wait_that_failed) {
    allocate();
    use();
    record(event, a);
    main.call("cuStreamWaitEvent", {.stream = b, .object = event, .result = 400});
    free_on(b);
    expect_unordered();
}

TEST_F(order, by_events_over_a_third_stream) {
    allocate();
    use();
    record(event, a);
    wait(c, event);
    record(other_event, c);
    wait(b, other_event);
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_a_context_wide_record_and_wait) {
    allocate();
    use();
    main.call("cuCtxRecordEvent", {.object = event});
    main.call("cuCtxWaitEvent", {.object = event});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_stream_synchronization) {
    allocate();
    use();
    main.call("cuStreamSynchronize", {.stream = a, .object = a});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_another_host_threads_synchronization) {
    allocate();
    use();
    worker.call("cuStreamSynchronize", {.stream = a, .object = a});
    free_on(b);
    expect_ordered();
}

TEST_F(order, not_by_synchronization_of_another_stream) {
    allocate();
    use();
    main.call("cuStreamSynchronize", {.stream = c, .object = c});
    free_on(b);
    expect_unordered();
}

TEST_F(order, by_a_query_that_said_done_and_not_by_one_that_did_not) {
    allocate();
    use();
    main.call("cuStreamQuery", {.stream = a, .object = a});
    free_on(b);
    expect_ordered();
}

TEST_F(order, not_by_a_query_that_said_not_ready) {
    allocate();
    use();
    main.call("cuStreamQuery", {.stream = a, .object = a, .result = 600});
    free_on(b);
    expect_unordered();
}

TEST_F(order, by_event_synchronization_and_what_the_event_came_after) {
    allocate();
    use();
    record(event, a);
    wait(c, event);
    record(other_event, c);
    main.call("cuEventSynchronize", {.object = other_event});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_an_event_query_that_said_done) {
    allocate();
    use();
    record(event, a);
    main.call("cuEventQuery", {.object = event});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_context_synchronization) {
    allocate();
    use();
    main.call("cuCtxSynchronize");
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_context_synchronization_by_handle) {
    allocate();
    use();
    main.call("cuCtxSynchronize_v2", {.object = 0xc0, .context = t.context(0xd0)});
    free_on(b);
    expect_ordered();
}

TEST_F(order, not_by_synchronization_of_another_context) {
    allocate();
    use();
    worker.use(t.context(0xd0)).call("cuCtxSynchronize");
    free_on(b);
    expect_unordered();
}

TEST_F(order, legacy_stream_after_a_blocking_one) {
    make_blocking(a);
    allocate();
    use();
    free_on(legacy);
    expect_ordered();
}

TEST_F(order, blocking_stream_after_the_legacy_one) {
    make_blocking(b);
    allocate(0);
    use(legacy);
    free_on(b);
    expect_ordered();
}

TEST_F(order, blocking_streams_by_legacy_work_between) {
    make_blocking(a);
    make_blocking(b);
    allocate();
    use();
    main.call("cuMemsetD8Async", {.stream = 0, .object = 0x9999, .size = 1});
    free_on(b);
    expect_ordered();
}

TEST_F(order, blocking_streams_alone_have_none) {
    make_blocking(a);
    make_blocking(b);
    main.call("cuMemsetD8Async", {.stream = 0, .object = 0x9999, .size = 1});
    allocate();
    use();
    free_on(b);
    expect_unordered();
}

TEST_F(order, non_blocking_streams_do_not_join_the_legacy_one) {
    allocate();
    use();
    free_on(legacy);
    auto const f = expect_unordered();
    EXPECT_NE(f.what[1].find("A non-blocking stream does not wait"), std::string::npos) << f.what[1];
}

TEST_F(order, legacy_streams_of_two_contexts_have_none) {
    auto const second = t.context(0xd0);
    main.call("cuMemAllocAsync", {.stream = a, .object = buffer, .size = mib});
    main.call("cuMemsetD8Async", {.stream = legacy, .object = buffer, .size = 64, .context = second});
    free_on(legacy);
    expect_unordered();
}

TEST_F(order, what_a_blocking_stream_waited_for_the_legacy_one_comes_after) {
    make_blocking(c);
    allocate();
    use();
    record(event, a);
    wait(c, event);
    free_on(legacy);
    expect_ordered();
}

TEST_F(order, what_the_legacy_stream_waited_for_a_blocking_one_comes_after) {
    make_blocking(b);
    allocate();
    use();
    record(event, a);
    wait(legacy, event);
    free_on(b);
    expect_ordered();
}

TEST_F(order, an_event_on_the_legacy_stream_stands_for_the_blocking_ones) {
    make_blocking(a);
    allocate();
    use();
    record(event, legacy);
    wait(b, event);
    free_on(b);
    expect_ordered();
}

TEST_F(order, an_event_on_a_blocking_stream_stands_for_the_legacy_work_before) {
    make_blocking(c);
    allocate(legacy);
    use(legacy);
    record(event, c);
    wait(b, event);
    free_on(b);
    expect_ordered();
}

TEST_F(order, per_thread_streams_join_the_legacy_one) {
    worker.call("cuMemAllocAsync_ptsz", {.object = buffer, .size = mib});
    free_on(0);
    expect_ordered();
}

TEST_F(order, by_launches_of_one_executable_graph) {
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100});
    allocate();
    use();
    main.call("cuGraphLaunch", {.stream = a, .object = 0x200});
    main.call("cuGraphLaunch", {.stream = b, .object = 0x200});
    free_on(b);
    main.call("cuGraphExecDestroy", {.object = 0x200});
    main.call("cuGraphDestroy", {.object = 0x100});
    expect_ordered();
}

TEST_F(order, not_by_launches_of_two_executable_graphs) {
    main.call("cuGraphCreate", {.object = 0x100});
    for (std::uint64_t const exec : {0x200, 0x201})
        main.call("cuGraphInstantiateWithFlags", {.object = exec, .other = 0x100});
    allocate();
    use();
    main.call("cuGraphLaunch", {.stream = a, .object = 0x200});
    main.call("cuGraphLaunch", {.stream = b, .object = 0x201});
    free_on(b);
    for (std::uint64_t const exec : {0x200, 0x201}) main.call("cuGraphExecDestroy", {.object = exec});
    main.call("cuGraphDestroy", {.object = 0x100});
    expect_unordered();
}

TEST_F(order, by_a_host_function_that_ran) {
    allocate();
    use();
    main.call("cuLaunchHostFunc", {.stream = a, .object = 0x77, .extra = 0xf0});
    worker.call("callback:host_function", {.object = 0x77, .extra = 0xf0});
    free_on(b);
    expect_ordered();
}

TEST_F(order, not_by_a_host_function_that_has_not_run) {
    allocate();
    use();
    main.call("cuLaunchHostFunc", {.stream = a, .object = 0x77, .extra = 0xf0});
    free_on(b);
    expect_unordered();
}

TEST_F(order, by_a_stream_callback_that_ran) {
    allocate();
    use();
    main.call("cuStreamAddCallback", {.stream = a, .object = 0x77, .extra = 0xf0});
    worker.call("callback:stream", {.object = 0x77, .extra = 0xf0});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_a_copy_that_returns_when_it_is_done) {
    allocate(legacy);
    main.call("cuMemcpyDtoH_v2", {.object = 0x100, .other = buffer, .size = 64});
    free_on(b);
    expect_ordered();
}

TEST_F(order, by_an_ordinary_free_of_device_memory) {
    main.call("cuMemAlloc_v2", {.object = buffer + 8 * mib, .size = 64});
    allocate();
    use();
    main.call("cuMemFree_v2", {.object = buffer + 8 * mib});
    free_on(b);
    expect_ordered();
}

TEST_F(order, words_in_memory_that_streams_write_and_wait_for) {
    allocate();
    use();
    main.call("cuStreamWriteValue32_v2", {.stream = a, .object = word, .size = 1});
    main.call("cuStreamWaitValue32_v2", {.stream = b, .object = word, .size = 1});
    free_on(b);
    expect_ordered();
}

TEST_F(order, waiting_for_a_word_that_no_stream_wrote_gives_none) {
    allocate();
    use();
    main.call("cuStreamWaitValue32_v2", {.stream = b, .object = word, .size = 1});
    free_on(b);
    expect_unordered();
}

TEST_F(order, events_that_graphs_record_are_not_doubted) {
    main.call("cuGraphCreate", {.object = 0x100});
    main.call("cuGraphAddEventRecordNode", {.object = 0x900, .other = 0x100, .extra = 7});
    allocate();
    use();
    wait(b, event);
    free_on(b);
    main.call("cuGraphDestroy", {.object = 0x100});
    expect_ordered();
}

TEST_F(order, what_is_captured_orders_nothing) {
    allocate();
    use();
    main.call("cuStreamBeginCapture_v2", {.stream = a});
    record(event, a);
    wait(b, event);
    main.call("cuStreamEndCapture", {.stream = a, .object = 0x100});
    main.call("cuGraphDestroy", {.object = 0x100});
    free_on(b);
    expect_unordered();
}

TEST_F(order, free_without_a_stream_after_the_host_waited) {
    allocate();
    use();
    main.call("cuStreamSynchronize", {.stream = a, .object = a});
    free_on(0, "cuMemFree_v2");
    expect_ordered();
}

TEST_F(order, free_without_a_stream_while_work_may_run) {
    allocate();
    use();
    free_on(0, "cuMemFree_v2");
    EXPECT_NE(expect_unordered().title.find("may still run"), std::string::npos);
}

TEST_F(order, free_without_a_stream_of_memory_that_was_not_used) {
    allocate();
    free_on(0, "cuMemFree_v2");
    expect_ordered();
}

TEST_F(order, handle_of_a_destroyed_stream_is_another_stream) {
    allocate();
    use();
    main.call("cuStreamDestroy_v2", {.stream = a, .object = a});
    main.call("cuStreamCreate", {.object = a, .extra = non_blocking});
    free_on(a);
    auto const f = expect_unordered();
    EXPECT_NE(f.title.find("only has the handle"), std::string::npos) << f.title;
}

TEST_F(order, frees_of_one_place_are_one_finding) {
    for (int i = 0; i < 20; ++i) {
        allocate();
        free_on(b);
    }
    auto const f = expect_unordered();
    EXPECT_EQ(f.count, 20u);
    EXPECT_EQ(f.bytes, 20 * mib);
}

TEST_F(order, of_many_streams_that_are_gone_costs_no_memory_and_blames_nobody) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
        main.call("cuStreamCreate", {.object = 0x1000 + i, .extra = non_blocking});
        main.call("cuMemAllocAsync", {.stream = 0x1000 + i, .object = buffer, .size = mib});
        record(event, 0x1000 + i);
        wait(b, event);
        main.call("cuStreamDestroy_v2", {.stream = 0x1000 + i, .object = 0x1000 + i});
        main.call("cuMemFreeAsync", {.stream = b, .object = buffer});
    }
    expect_ordered();
}

}  // namespace
}  // namespace lastref::test
