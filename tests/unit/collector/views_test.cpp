// The views of schema/views.sql, on small traces of which every row is known.
#include <gtest/gtest.h>

#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using hooks::abi;
using strings = std::vector<std::string>;

constexpr std::uint64_t start = 1'000'000'000;
constexpr std::uint64_t move_reference = 1;  // CU_GRAPH_USER_OBJECT_MOVE

// Calls one after the other, a microsecond apart, written as one would tell the story.
struct views_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::unique_ptr<spool_writer> writer = std::make_unique<spool_writer>(folder / "999999999-1.spool");
    std::unique_ptr<thread_writer> main = writer->thread(999'999'999), other = writer->thread(7);
    std::uint64_t now = start;

    void call(abi api, call_facts facts = {.api = abi::cuInit, .begin = 0}, thread_writer* thread = nullptr) {
        facts.api = api;
        facts.begin = now += 1000;
        if (facts.duration == 10) facts.duration = 100;
        (thread ? thread : main.get())->call(make_call(facts));
    }
    call_facts on(std::uint64_t object) { return {.api = abi::cuInit, .begin = 0, .object = object}; }
    call_facts on(std::uint64_t object, std::uint64_t with, std::uint64_t size = 0, std::uint64_t extra = 0) {
        return {.api = abi::cuInit, .begin = 0, .object = object, .other = with, .size = size, .extra = extra};
    }

    void make_payload(std::uint64_t handle, std::uint64_t payload, unsigned count = 1) {
        call(abi::cuUserObjectCreate, on(handle, payload, count, 0xdd));
    }
    void retain(std::uint64_t handle, unsigned count) { call(abi::cuUserObjectRetain, on(handle, 0, count)); }
    void release(std::uint64_t handle, unsigned count) { call(abi::cuUserObjectRelease, on(handle, 0, count)); }
    void destructor_runs(std::uint64_t handle, std::uint64_t payload) {
        call(abi::callback_user_object, on(handle, payload, 0, 0xdd), other.get());
    }
    void graph_retains(std::uint64_t graph, std::uint64_t handle, unsigned count, std::uint64_t flags = 0) {
        call(abi::cuGraphRetainUserObject, on(handle, graph, count, flags));
    }
    void graph_releases(std::uint64_t graph, std::uint64_t handle, unsigned count) {
        call(abi::cuGraphReleaseUserObject, on(handle, graph, count));
    }
    void make_graph(std::uint64_t graph) { call(abi::cuGraphCreate, on(graph)); }
    void destroy_graph(std::uint64_t graph) { call(abi::cuGraphDestroy, on(graph)); }
    void clone(std::uint64_t from, std::uint64_t to) { call(abi::cuGraphClone, on(to, from)); }
    void instantiate(std::uint64_t graph, std::uint64_t exec) {
        call(abi::cuGraphInstantiateWithFlags, on(exec, graph));
    }
    void update(std::uint64_t exec, std::uint64_t graph) { call(abi::cuGraphExecUpdate_v2, on(exec, graph)); }
    void destroy_exec(std::uint64_t exec) { call(abi::cuGraphExecDestroy, on(exec)); }
    void add_child(std::uint64_t node, std::uint64_t graph, std::uint64_t child) {
        call(abi::cuGraphAddChildGraphNode, on(node, graph, 0, child));
    }

    strings ask(std::string const& sql) {
        if (writer) {
            main->end();
            other->end();
            writer.reset();
            drain_folder(folder.path(), trace);
            EXPECT_EQ(broken_rule(trace), "");
        }
        return rows(trace, sql);
    }
    strings holders() {
        return ask(
            "SELECT payload, holder, held_by, \"references\" FROM outstanding_payloads ORDER BY payload, holder, "
            "held_by");
    }
};

TEST_F(views_test, a_payload_is_held_by_its_caller_until_all_is_released) {
    make_payload(0x10, 0xa, 2);
    retain(0x10, 3);
    release(0x10, 1);
    make_payload(0x20, 0xb);
    release(0x20, 1);
    destructor_runs(0x20, 0xb);
    EXPECT_EQ(holders(), strings{"0xa|caller|-|4"});
    EXPECT_EQ(ask("SELECT pid, user_object, destructor, tid, event FROM outstanding_payloads"),
              strings{"999999999|0x10|0xdd|999999999|1"});
}

TEST_F(views_test, a_payload_that_nobody_holds_and_that_was_not_destroyed) {
    make_payload(0x10, 0xa);
    release(0x10, 3);  // more than there were: the driver reports success, and the destructor never runs
    EXPECT_EQ(holders(), strings{"0xa|nobody|-|0"});
}

TEST_F(views_test, moving_takes_the_callers_reference_and_copying_does_not) {
    make_graph(0x100);
    make_payload(0x10, 0xa);
    graph_retains(0x100, 0x10, 1, move_reference);
    make_payload(0x20, 0xb);
    graph_retains(0x100, 0x20, 2);
    graph_releases(0x100, 0x20, 1);
    EXPECT_EQ(holders(), (strings{"0xa|graph|0x100|1", "0xb|caller|-|1", "0xb|graph|0x100|1"}));
}

TEST_F(views_test, failed_calls_move_nothing) {
    make_graph(0x100);
    make_payload(0x10, 0xa);
    call_facts failed = on(0x10, 0x100, 1, move_reference);
    failed.result = 1;
    call(abi::cuGraphRetainUserObject, failed);
    EXPECT_EQ(holders(), strings{"0xa|caller|-|1"});
}

TEST_F(views_test, references_follow_clones_and_executable_graphs) {
    make_graph(0x100);
    make_payload(0x10, 0xa);
    graph_retains(0x100, 0x10, 2, 0);
    release(0x10, 1);
    clone(0x100, 0x200);
    graph_retains(0x100, 0x10, 1, 0);  // later than the clone, which does not get it
    instantiate(0x200, 0x300);
    instantiate(0x100, 0x400);
    destroy_graph(0x100);
    destroy_exec(0x400);
    EXPECT_EQ(holders(), (strings{"0xa|executable graph|0x300|2", "0xa|graph|0x200|2"}));
}

TEST_F(views_test, an_update_drops_the_former_sources_references) {
    make_graph(0x100);
    make_graph(0x200);
    make_payload(0x10, 0xa);
    make_payload(0x20, 0xb);
    graph_retains(0x100, 0x10, 1, move_reference);
    graph_retains(0x200, 0x20, 1, move_reference);
    instantiate(0x100, 0x300);
    update(0x300, 0x200);
    destroy_graph(0x100);
    destroy_graph(0x200);
    EXPECT_EQ(holders(), (strings{"0xa|nobody|-|0", "0xb|executable graph|0x300|1"}));
}

TEST_F(views_test, child_nodes_hold_a_copy_until_they_are_destroyed) {
    make_graph(0x100);
    make_graph(0x200);
    make_graph(0x300);
    make_payload(0x10, 0xa);
    graph_retains(0x100, 0x10, 1, move_reference);
    add_child(0x1000, 0x200, 0x100);
    add_child(0x2000, 0x300, 0x100);
    destroy_graph(0x100);
    call(abi::cuGraphDestroyNode, on(0x2000));
    instantiate(0x200, 0x400);
    EXPECT_EQ(holders(), (strings{"0xa|executable graph|0x400|1", "0xa|graph|0x200|1"}));
}

TEST_F(views_test, a_reference_may_be_released_through_the_embedded_graph) {
    make_graph(0x100);
    make_graph(0x200);
    make_payload(0x10, 0xa);
    graph_retains(0x100, 0x10, 1, move_reference);
    add_child(0x1000, 0x200, 0x100);
    destroy_graph(0x100);
    call(abi::cuGraphChildGraphNodeGetGraph, on(0x900, 0x1000));
    graph_releases(0x900, 0x10, 1);
    make_payload(0x20, 0xb);
    graph_retains(0x900, 0x20, 1, move_reference);
    EXPECT_EQ(holders(), (strings{"0xa|nobody|-|0", "0xb|graph|0x200|1"}));
}

TEST_F(views_test, graphs_embedded_in_embedded_graphs_hold_for_the_outermost) {
    make_graph(0x100);
    make_graph(0x200);
    make_graph(0x300);
    add_child(0x1000, 0x200, 0x100);
    call(abi::cuGraphChildGraphNodeGetGraph, on(0x900, 0x1000));
    add_child(0x2000, 0x900, 0x300);
    call(abi::cuGraphChildGraphNodeGetGraph, on(0x901, 0x2000));
    make_payload(0x10, 0xa);
    graph_retains(0x901, 0x10, 1, move_reference);
    instantiate(0x200, 0x400);
    for (std::uint64_t const graph : {0x100, 0x300, 0x200}) destroy_graph(graph);
    EXPECT_EQ(holders(), strings{"0xa|executable graph|0x400|1"});
}

TEST_F(views_test, a_child_set_in_an_executable_graph_replaces_the_former) {
    make_graph(0x100);
    make_graph(0x200);
    make_graph(0x500);
    make_payload(0x10, 0xa);
    make_payload(0x20, 0xb);
    graph_retains(0x100, 0x10, 1, move_reference);
    graph_retains(0x500, 0x20, 1, move_reference);
    add_child(0x1000, 0x200, 0x100);
    instantiate(0x200, 0x300);
    call(abi::cuGraphExecChildGraphNodeSetParams, on(0x300, 0x1000, 0, 0x500));
    for (std::uint64_t const graph : {0x100, 0x200, 0x500}) destroy_graph(graph);
    EXPECT_EQ(holders(), (strings{"0xa|nobody|-|0", "0xb|executable graph|0x300|1"}));
}

TEST_F(views_test, handles_that_are_handed_out_again_are_others) {
    for (std::uint64_t payload = 1; payload <= 3; ++payload) {
        make_graph(0x100);
        make_payload(0x10, payload);
        graph_retains(0x100, 0x10, 1, move_reference);
        instantiate(0x100, 0x300);
        destroy_graph(0x100);
        if (payload == 2) break;  // the second is never destroyed
        destroy_exec(0x300);
        destructor_runs(0x10, payload);
    }
    make_graph(0x100);
    make_payload(0x10, 4);
    release(0x10, 1);
    destructor_runs(0x10, 4);
    EXPECT_EQ(holders(), strings{"0x2|executable graph|0x300|1"});
}

TEST_F(views_test, captured_graphs) {
    call(abi::cuStreamBeginCapture_v2, {.api = abi::cuInit, .begin = 0, .stream = 0x5});
    call(abi::cuStreamEndCapture, on(0x100));
    make_payload(0x10, 0xa);
    graph_retains(0x100, 0x10, 1, move_reference);
    call(abi::cuStreamEndCapture, on(0x100));  // a capture into the graph that is there: still the same one
    instantiate(0x100, 0x300);
    EXPECT_EQ(holders(), (strings{"0xa|executable graph|0x300|1", "0xa|graph|0x100|1"}));
}

TEST_F(views_test, allocations_that_stay) {
    auto const context = writer->context(0xc0, 0, spool::context_kind::created),
               kept = writer->context(0xd0, 0, spool::context_kind::primary);
    auto const allocate = [&](abi api, std::uint64_t address, std::uint16_t in) {
        call_facts facts = on(address, 0, 4096);
        facts.context = in;
        call(api, facts);
    };
    allocate(abi::cuMemAlloc_v2, 0x1, kept);
    allocate(abi::cuMemAlloc_v2, 0x2, kept);
    call(abi::cuMemFree_v2, on(0x2));
    allocate(abi::cuMemAllocAsync, 0x3, context);  // outlives its context
    allocate(abi::cuMemAlloc_v2, 0x4, context);    // goes with it
    allocate(abi::cuMemHostAlloc, 0x1, kept);      // another address space
    call(abi::cuMemHostRegister_v2, on(0x7000, 0, 100));
    call(abi::cuMemHostUnregister, on(0x7000));
    allocate(abi::cuMemAllocAsync, 0x5, kept);
    call(abi::cuMemFree_v2, on(0x5));  // the ordinary free takes stream-ordered memory too
    call_facts failed = on(0x1);
    failed.result = 1;
    call(abi::cuMemFree_v2, failed);
    call(abi::cuCtxDestroy_v2, on(0xc0));
    EXPECT_EQ(ask("SELECT kind, address, bytes, call, context FROM outstanding_allocations ORDER BY event"),
              (strings{"device_memory|0x1|4096|cuMemAlloc|0xd0", "device_memory|0x3|4096|cuMemAllocAsync|0xc0",
                       "host_memory|0x1|4096|cuMemHostAlloc|0xd0"}));
}

TEST_F(views_test, recipes_and_the_frees_that_came) {
    auto const context = writer->context(0xc0, 1, spool::context_kind::primary),
               second = writer->context(0xd0, 0, spool::context_kind::created);
    auto const on_stream = [&](abi api, std::uint64_t address, std::uint64_t stream, std::uint16_t in,
                               thread_writer* thread = nullptr, std::uint16_t result = 0, std::uint64_t pool = 0) {
        call_facts facts = on(address, pool, 4096);
        facts.stream = stream;
        facts.context = in;
        facts.result = result;
        call(api, facts, thread);
    };
    on_stream(abi::cuStreamCreate, 0x50, 0, context);  // 1
    on_stream(abi::cuMemAllocAsync, 0x1, 0x50, context, nullptr, 0, 0x99);
    on_stream(abi::cuMemFreeAsync, 0x1, 0x50, 0, other.get());  // the stream brings its context
    on_stream(abi::cuMemAllocAsync, 0x2, 0x50, context);        // 4
    on_stream(abi::cuStreamDestroy_v2, 0x50, 0x50, context);
    on_stream(abi::cuStreamCreate, 0x50, 0, context);  // 6
    on_stream(abi::cuMemFreeAsync, 0x2, 0x50, context);
    on_stream(abi::cuMemAllocAsync, 0x3, 1, context);
    on_stream(abi::cuMemFreeAsync, 0x3, 1, 0, other.get(), 201);
    on_stream(abi::cuMemAllocAsync, 0x4, 0, context);
    on_stream(abi::cuMemFreeAsync, 0x4, 1, second);
    on_stream(abi::cuMemAllocAsync_ptsz, 0x5, 0, context);
    on_stream(abi::cuMemFreeAsync, 0x5, 2, context, other.get());
    on_stream(abi::cuMemAllocAsync, 0x6, 2, context);
    on_stream(abi::cuMemFreeAsync, 0x6, 0x50, context);
    on_stream(abi::cuMemAllocAsync, 0x7, 0, context);
    on_stream(abi::cuMemFreeAsync, 0x7, 0, 0, nullptr, 201);
    on_stream(abi::cuMemFreeAsync, 0x7, 0, context);  // made good
    on_stream(abi::cuMemAllocAsync, 0x8, 0, context);
    on_stream(abi::cuMemFree_v2, 0x8, 0, 0);
    on_stream(abi::cuMemAlloc_v2, 0x9, 0, second);
    EXPECT_EQ(ask("SELECT address, stream_token, stream, stream_event, context, device, pool, grade, free_event, "
                  "free_result, comparison FROM deallocation_recipes ORDER BY event"),
              (strings{"0x1|0x50|created|1|0xc0|1|0x99|complete|3|0|same",
                       "0x2|0x50|created|1|0xc0|1|current|complete|7|0|recycled stream",
                       "0x3|legacy|legacy default|-|0xc0|1|current|ambient|9|201|no context",
                       "0x4|null|legacy default|-|0xc0|1|current|ambient|11|0|other context",
                       "0x5|null|per_thread default|-|0xc0|1|current|per-thread|13|0|other thread",
                       "0x6|per_thread|per_thread default|-|0xc0|1|current|per-thread|15|0|other stream",
                       "0x7|null|legacy default|-|0xc0|1|current|ambient|18|0|same",
                       "0x8|null|legacy default|-|0xc0|1|current|ambient|20|0|synchronous",
                       "0x9|-|-|-|0xd0|0|-|complete|-|-|-"}));
}

TEST_F(views_test, frees_that_failed) {
    call(abi::cuMemAllocAsync, on(0x1, 0, 10));
    call_facts failed = on(0x1);
    failed.result = 201;
    call(abi::cuMemFreeAsync, failed);  // made good
    call(abi::cuMemFreeAsync, on(0x1));
    call(abi::cuMemAllocAsync, on(0x1, 0, 10));
    failed.stream = 2;
    call(abi::cuMemFreeAsync, failed);           // never
    call(abi::cuMemAllocAsync, on(0x1, 0, 10));  // handed out again
    call(abi::cuMemFreeAsync, on(0x1));
    EXPECT_EQ(ask("SELECT event, call, object, result, context, stream, made_good_by FROM failed_frees ORDER BY event"),
              (strings{"2|cuMemFreeAsync|0x1|201|none|legacy (0)|3", "5|cuMemFreeAsync|0x1|201|none|per_thread|-"}));
}

TEST_F(views_test, frees_on_the_per_thread_default_stream) {
    call(abi::cuMemAllocAsync_ptsz, on(0x1, 0, 10));
    call(abi::cuMemFreeAsync_ptsz, on(0x1), other.get());
    call_facts allocation = on(0x2, 0, 20), free = on(0x2);
    allocation.stream = free.stream = 2;
    call(abi::cuMemAllocAsync, allocation);
    call(abi::cuMemFreeAsync, free);
    call(abi::cuMemFreeAsync, on(0x3));  // the legacy stream
    EXPECT_EQ(ask("SELECT event, address, tid, allocated_by, stream, allocation_stream, bytes, same_thread"
                  " FROM per_thread_default_stream_frees ORDER BY event"),
              (strings{"2|0x1|7|999999999|per_thread (0)|per_thread (0)|10|0",
                       "4|0x2|999999999|999999999|per_thread|per_thread|20|1"}));
}

TEST_F(views_test, callbacks_with_the_calls_made_inside) {
    call_facts callback = on(0x10, 0xa, 0, 0xdd);
    callback.duration = 10'000;
    call(abi::callback_user_object, callback, other.get());
    call_facts inside = on(0x5);
    inside.flags = spool::flag_in_callback;
    inside.result = 800;
    call(abi::cuMemFree_v2, inside, other.get());
    call(abi::cuMemFree_v2, inside, other.get());
    call(abi::cuMemFree_v2, on(0x6));
    call(abi::callback_host_function, on(0xb, 0, 0, 0xee), other.get());
    EXPECT_EQ(ask("SELECT what, tid, payload, \"function\", duration_us, driver_calls FROM callbacks ORDER BY event"),
              (strings{"user object destructor|7|0xa|0xdd|10.0|2", "host function|7|0xb|0xee|0.1|0"}));
}

TEST_F(views_test, what_happens_at_shutdown) {
    call(abi::cuMemFree_v2, on(0x1));
    for (auto const flags :
         {spool::flag_after_exit, static_cast<std::uint8_t>(spool::flag_after_exit | spool::flag_after_teardown)}) {
        call_facts late = on(0x2);
        late.flags = flags;
        late.result = 4;
        call(abi::cuMemFree_v2, late);
    }
    EXPECT_EQ(ask("SELECT event, after, call, object, result FROM shutdown_events ORDER BY event"),
              (strings{"2|exit began|cuMemFree|0x2|4", "3|driver torn down|cuMemFree|0x2|4"}));
}

TEST_F(views_test, losses_are_empty_in_a_complete_trace) {
    EXPECT_EQ(ask("SELECT * FROM losses"), strings{});
    drain::database(trace).execute("UPDATE meta SET value = 'recording' WHERE key = 'state'");
    drain::database(trace).execute("INSERT INTO loss VALUES (1, 'records_dropped', 'records found no room', 5)");
    EXPECT_EQ(ask("SELECT pid, name, count FROM losses"), (strings{"999999999|records_dropped|5", "-|unfinished|1"}));
}

TEST_F(views_test, calls_in_words) {
    auto const context = writer->context(0xc0, 0, spool::context_kind::primary);
    main->text(spool::text_kind::thread_name, "main");
    call_facts facts = on(0x1f, 0x2, 3, 0x4);
    facts.context = context;
    facts.stream = 0x50;
    facts.duration = 2500;
    call(abi::cuMemAllocFromPoolAsync_ptsz, facts);
    EXPECT_EQ(ask("SELECT thread, begin_us, duration_us, call, symbol, kind, verb, result, context, stream, object, "
                  "other, size, extra,"
                  " in_callback FROM calls"),
              strings{"main|1.0|2.5|cuMemAllocFromPoolAsync|cuMemAllocFromPoolAsync_ptsz|memory_alloc_async|create|0|"
                      "0xc0|0x50|0x1f|0x2|3|"
                      "0x4|0"});
}

TEST_F(views_test, pending_calls_with_what_led_to_them_and_what_they_did) {
    constexpr std::uint64_t drain = 0xd0, other_function = 0xe0, queue = 0x9;
    auto const attempt = [&](std::uint64_t number, bool accepted, std::uint64_t function, thread_writer* by,
                             std::uint8_t flags) {
        call_facts facts = on(number, queue, accepted, function);
        facts.flags = flags;
        call(abi::pending_call_attempt, facts, by);
    };
    auto const run = [&](std::uint64_t number, std::uint64_t function, std::uint64_t lasts) {
        call_facts facts = on(number, queue, 0, function);
        facts.duration = lasts;
        call(abi::pending_call_run, facts);
    };
    for (std::uint64_t i = 0; i < 4; ++i) {
        call(abi::cuMemAlloc_v2, on(0x100 + i, 0, 10));
        make_payload(0x10 + i, 0xa0 + i);
    }
    attempt(1, true, other_function, main.get(), 0);
    destructor_runs(0x10, 0xa0);
    attempt(2, false, drain, other.get(), 1);
    destructor_runs(0x11, 0xa1);
    attempt(3, true, drain, other.get(), 1);
    destructor_runs(0x12, 0xa2);
    run(1, other_function, 100);
    run(3, drain, 3500);
    for (std::uint64_t i = 0; i < 3; ++i) call(abi::cuMemFree_v2, on(0x100 + i));
    call(abi::cuMemFree_v2, on(0x103));  // after it
    destructor_runs(0x13, 0xa3);
    attempt(4, true, drain, other.get(), 1);
    EXPECT_EQ(
        ask("SELECT in_callback, result, became, payload_callbacks, frees, driver_calls, on_main_thread, waited_us,"
            " callback = event - 1 FROM pending_calls ORDER BY event"),
        (strings{"0|0|ran|0|0|0|1|6.0|-", "1|-1|refused|1|-|-|-|-|1", "1|0|ran|3|3|3|1|3.0|1",
                 "1|0|never ran|1|-|-|-|-|1"}));
}

// Every view on a trace of many events: no question takes a time that grows with the square of their number.
TEST_F(views_test, views_on_a_long_trace) {
    make_graph(0x100);
    for (unsigned i = 0; i < 4000; ++i) {
        make_payload(0x10, i);
        graph_retains(0x100, 0x10, 1, move_reference);
        instantiate(0x100, 0x300);
        destroy_exec(0x300);
        graph_releases(0x100, 0x10, 1);
        destructor_runs(0x10, i);
        call(abi::cuMemAllocAsync, on(0x1, 0, 10));
        call_facts free = on(0x1);
        free.stream = 2;
        call(abi::cuMemFreeAsync, free);
        call(abi::pending_call_attempt, on(i + 1, 0, 1, 0xd0));
        call(abi::pending_call_run, on(i + 1, 0, 0, 0xd0));
    }
    make_payload(0x10, 0xa);
    EXPECT_EQ(holders(), strings{"0xa|caller|-|1"});
    for (auto const* view :
         {"calls", "outstanding_allocations", "deallocation_recipes", "failed_frees", "per_thread_default_stream_frees",
          "callbacks", "pending_calls", "shutdown_events", "losses"}) {
        auto const begun = std::chrono::steady_clock::now();
        ask(std::string("SELECT count(*) FROM ") + view);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << view;
    }
}

}  // namespace
}  // namespace lastref::test
