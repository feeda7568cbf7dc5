// What orders a free inside a captured graph after a use of the graph's memory on another captured stream.
#include "tests/unit/analyzer/order_fixture.h"

namespace lastref::test {
namespace {

class captured : public order {
  protected:
    // Streams a and b, of which b comes after the allocation.
    void begin() {
        main.call("cuStreamBeginCapture_v2", {.stream = a});
        allocate();
        record(event, a);
        wait(b, event);
    }
    void finish() {
        main.call("cuStreamEndCapture", {.stream = a, .object = 0x100});
        instantiate();
    }
    void instantiate() {
        main.call("cuGraphInstantiate_v2", {.object = 0x200, .other = 0x100});
        main.call("cuGraphDestroy", {.object = 0x100});
        main.call("cuGraphExecDestroy", {.object = 0x200});
    }
    // The free on a knows nothing of the use on b.
    void unordered() {
        use(b);
        free_on(a);
        join();
    }
    void join() {
        record(other_event, b);
        wait(a, other_event);
    }
};

TEST_F(captured, no_edge_from_the_use) {
    begin();
    unordered();
    finish();
    auto const f = expect_unordered();
    EXPECT_EQ(f.title, "1 buffer of a captured graph freed with no edge from the last use");
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_EQ(f.sites.size(), 3u);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_EQ(f.count, 1u);
}

TEST_F(captured, freed_after_the_join) {
    begin();
    use(b);
    join();
    free_on(a);
    finish();
    expect_ordered();
}

TEST_F(captured, freed_on_the_stream_that_used_it) {
    begin();
    use(b);
    free_on(b);
    join();
    finish();
    expect_ordered();
}

TEST_F(captured, over_a_third_stream) {
    begin();
    use(b);
    record(other_event, b);
    wait(c, other_event);
    free_on(c);
    record(event, c);
    wait(a, event);
    finish();
    expect_ordered();
}

TEST_F(captured, event_recorded_before_the_use) {
    begin();
    record(other_event, b);
    use(b);
    wait(a, other_event);
    free_on(a);
    join();
    finish();
    expect_unordered();
}

TEST_F(captured, freed_with_no_edge_from_the_allocation) {
    main.call("cuStreamBeginCapture_v2", {.stream = a});
    record(event, a);
    wait(b, event);
    allocate();
    free_on(b);
    join();
    finish();
    EXPECT_EQ(expect_unordered().title, "1 buffer of a captured graph freed with no edge from the allocation");
}

TEST_F(captured, use_inside_the_memory_counts) {
    begin();
    main.call("cuMemcpyDtoDAsync_v2", {.stream = b, .object = 0x1000, .other = buffer + mib - 1, .size = 1});
    free_on(a);
    join();
    finish();
    expect_unordered();
}

TEST_F(captured, use_beside_the_memory_does_not) {
    begin();
    main.call("cuMemsetD8Async", {.stream = b, .object = buffer + mib, .size = 64});
    free_on(a);
    join();
    finish();
    expect_ordered();
}

TEST_F(captured, dependencies_that_the_program_set_count_as_order) {
    begin();
    use(b);
    main.call("cuStreamUpdateCaptureDependencies", {.stream = a, .size = 1});
    free_on(a);
    join();
    finish();
    expect_ordered();
}

TEST_F(captured, external_events_count_as_order) {
    begin();
    main.call("cuEventRecordWithFlags", {.stream = b, .object = other_event, .extra = 1});
    unordered();
    finish();
    expect_ordered();
}

TEST_F(captured, edge_added_after_the_capture) {
    begin();
    unordered();
    main.call("cuStreamEndCapture", {.stream = a, .object = 0x100});
    main.call("cuGraphAddDependencies", {.object = 0x100, .size = 1});
    instantiate();
    expect_ordered();
}

TEST_F(captured, graph_that_never_runs) {
    begin();
    unordered();
    main.call("cuStreamEndCapture", {.stream = a, .object = 0x100});
    main.call("cuGraphDestroy", {.object = 0x100});
    expect_ordered();
}

TEST_F(captured, broken_capture) {
    begin();
    unordered();
    main.call("cuStreamEndCapture", {.stream = a, .result = 901});
    end();
    EXPECT_TRUE(found(rule::unordered_free).empty()) << titles(what());
}

TEST_F(captured, two_captures_at_a_time_stand_apart) {
    begin();
    worker.call("cuStreamBeginCapture_v2", {.stream = c});
    worker.call("cuMemsetD8Async", {.stream = c, .object = buffer, .size = 64});  // another graph's node
    worker.call("cuStreamEndCapture", {.stream = c, .object = 0x300});
    worker.call("cuGraphDestroy", {.object = 0x300});
    use(b);
    join();
    free_on(a);
    finish();
    expect_ordered();
}

TEST_F(captured, each_capture_begins_anew) {
    for (int i = 0; i < 2; ++i) {
        begin();
        if (i == 0) {
            use(b);
            join();
            free_on(a);
        } else {
            unordered();
        }
        finish();
    }
    EXPECT_EQ(expect_unordered().count, 1u);
}

}  // namespace
}  // namespace lastref::test
