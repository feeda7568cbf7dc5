// queue-contract, context-not-restored, and what the program leaves on purpose.
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

constexpr std::uint64_t queue = 0x1000, other_queue = 0x2000;
constexpr std::uint64_t item = 0x20, second_item = 0x21;
constexpr int in_callback = 1;

class deferred_queue : public rules {
  protected:
    deferred_queue() { main.use(context).call("cuStreamCreate", {.object = stream}); }
    ~deferred_queue() override { EXPECT_TRUE(analysed_here_); }

    void say(thread_builder& by, std::string const& what, std::uint64_t of_item = 0, std::uint64_t value = 0,
             int flags = 0) {
        by.call("annotation:" + what, {.object = queue, .other = of_item, .size = value, .flags = flags});
    }
    void wake(thread_builder& by, bool accepted = true) {
        say(by, "schedule");
        say(by, "schedule_result", 0, accepted);
    }
    void drain(thread_builder& by, std::vector<std::uint64_t> const& items) {
        say(by, "drain_begin");
        for (auto const each : items) say(by, "clean", each);
        say(by, "drain_end", 0, items.size());
    }
    finding breach() {
        end();
        return only(rule::queue_contract);
    }
    void in_order() {
        end();
        expect_nothing();
    }

  private:
    void end() {
        main.call("cuStreamDestroy_v2", {.object = stream});
        analysed_here_ = true;
    }
    bool analysed_here_ = false;
};

TEST_F(deferred_queue, that_keeps_its_contract) {
    say(worker, "enqueue", item);
    wake(worker);
    say(worker, "enqueue", second_item);
    drain(main, {second_item, item});
    say(worker, "enqueue", item);  // another one at the same address
    wake(worker, false);
    wake(worker);
    drain(main, {item});
    drain(main, {});  // nobody asked for it
    in_order();
}

TEST_F(deferred_queue, answered_before_the_result_is_said) {
    say(worker, "enqueue", item);
    say(worker, "schedule");
    drain(main, {item});
    say(worker, "schedule_result", 0, 1);
    say(worker, "enqueue", item);
    wake(worker);
    drain(main, {item});
    in_order();
}

TEST_F(deferred_queue, declined_and_asked_again) {
    say(worker, "enqueue", item);
    wake(worker);
    say(main, "decline");
    wake(worker);
    drain(main, {item});
    in_order();
}

TEST_F(deferred_queue, stopped_with_something_in_it) {
    say(worker, "enqueue", item);
    wake(worker);
    say(main, "stop");
    say(worker, "enqueue", second_item);
    in_order();
}

TEST_F(deferred_queue, a_wake_up_that_was_on_its_way_at_the_stop) {
    say(worker, "enqueue", item);
    say(main, "stop");
    wake(worker);
    in_order();
}

TEST_F(deferred_queue, another_queue_s_items_are_its_own) {
    say(worker, "enqueue", item);
    worker.call("annotation:enqueue", {.object = other_queue, .other = item});
    drain(main, {item});
    main.call("annotation:clean", {.object = other_queue, .other = item});
    in_order();
}

// Of programs without annotations.
class pending_calls : public rules {
  protected:
    void ask(thread_builder& by, bool accepted = true) {
        by.call("python:add_pending_call", {.object = ++number_, .size = accepted, .extra = 0xd0, .stack = {"wake"}});
    }
    void run() { main.call("python:pending_call", {.object = number_, .extra = 0xd0}); }

  private:
    std::uint64_t number_ = 0;
};

TEST_F(pending_calls, while_the_interpreter_lives) {
    t.phase("python_initialized");
    ask(worker, false);
    ask(worker);
    run();
    t.phase("python_finalizing");
    t.phase("python_finalized");
    t.phase("python_initialized");
    ask(worker);
    expect_nothing();
}

TEST_F(pending_calls, asked_for_while_the_interpreter_ends) {
    t.phase("python_initialized");
    main.use(context).call("cuCtxSynchronize");
    t.phase("python_finalizing");
    ask(worker);
    ask(worker);
    t.phase("python_finalized");
    auto const f = only(rule::queue_contract);
    EXPECT_EQ(f.count, 2u);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_NE(f.title.find("while the interpreter was finalizing"), std::string::npos) << f.title;
}

TEST_F(pending_calls, asked_for_after_the_interpreters_end) {
    t.phase("python_initialized");
    main.use(context).call("cuCtxSynchronize");
    t.phase("python_finalizing");
    t.phase("python_finalized");
    ask(worker, false);
    auto const f = only(rule::queue_contract);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_NE(f.title.find("after the interpreter was finalized"), std::string::npos) << f.title;
}

TEST_F(deferred_queue, loses_an_item) {
    say(worker, "enqueue", item);
    say(worker, "enqueue", second_item);
    wake(worker);
    drain(main, {second_item});
    auto const f = breach();
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_EQ(f.confidence, confidence::likely);
    EXPECT_NE(f.title.find("lost an item"), std::string::npos) << f.title;
}

TEST_F(deferred_queue, is_not_drained_before_the_end) {
    drain(main, {});
    say(worker, "enqueue", item);
    wake(worker);
    auto const f = breach();
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_NE(f.title.find("not drained"), std::string::npos) << f.title;
}

TEST_F(deferred_queue, of_a_process_that_was_killed) {
    say(worker, "enqueue", item);
    wake(worker);
    t.ends("abrupt", {}, 9);
    in_order();
}

TEST_F(deferred_queue, what_it_holds_is_named_as_intended) {
    say(worker, "enqueue", item);
    wake(worker);
    main.call("annotation:intended_leak", {.object = item});
    in_order();
}

TEST_F(deferred_queue, with_marks_missing_nothing_is_said_of_what_is_left) {
    say(worker, "enqueue", item);
    drain(main, {second_item});
    t.loss("records_dropped", 3);
    in_order();
}

TEST_F(deferred_queue, repeats_an_item) {
    say(worker, "enqueue", item);
    drain(main, {item});
    drain(main, {item});
    EXPECT_NE(breach().title.find("did not hold"), std::string::npos);
}

TEST_F(deferred_queue, cleans_up_what_was_never_enqueued) {
    drain(main, {item});
    EXPECT_NE(breach().what.at(0).find("had not been enqueued"), std::string::npos);
}

TEST_F(deferred_queue, is_given_an_item_twice) {
    say(worker, "enqueue", item);
    say(worker, "enqueue", item);
    drain(main, {item});
    EXPECT_NE(breach().title.find("already"), std::string::npos);
}

TEST_F(deferred_queue, asks_twice) {
    say(worker, "enqueue", item);
    wake(worker);
    say(worker, "enqueue", second_item);
    wake(worker);
    drain(main, {item, second_item});
    EXPECT_NE(breach().title.find("under way"), std::string::npos);
}

TEST_F(deferred_queue, asks_on_two_threads_at_one_time) {
    say(worker, "enqueue", item);
    say(worker, "schedule");
    say(main, "schedule");
    say(worker, "schedule_result", 0, 1);
    say(main, "schedule_result", 0, 0);
    drain(main, {item});
    EXPECT_NE(breach().title.find("under way"), std::string::npos);
}

TEST_F(deferred_queue, is_drained_inside_a_callback) {
    say(worker, "enqueue", item);
    say(worker, "drain_begin", 0, 0, in_callback);
    say(worker, "clean", item, 0, in_callback);
    say(worker, "drain_end", 0, 1, in_callback);
    EXPECT_NE(breach().title.find("inside a callback"), std::string::npos);
}

TEST_F(deferred_queue, is_drained_by_two) {
    say(worker, "enqueue", item);
    say(main, "drain_begin");
    say(worker, "drain_begin");
    say(worker, "clean", item);
    say(worker, "drain_end", 0, 1);
    EXPECT_NE(breach().title.find("Two batches"), std::string::npos);
}

TEST_F(deferred_queue, cleans_up_on_another_thread) {
    say(worker, "enqueue", item);
    say(main, "drain_begin");
    say(worker, "clean", item);
    say(main, "drain_end", 0, 1);
    EXPECT_NE(breach().title.find("another thread"), std::string::npos);
}

TEST_F(deferred_queue, asks_after_the_stop) {
    say(main, "stop");
    say(worker, "enqueue", item);
    wake(worker);
    EXPECT_NE(breach().title.find("after it was stopped"), std::string::npos);
}

// --- contexts
// -----------------------------------------------------------------------------------------------------------

class marked_range : public rules {
  protected:
    std::int64_t second = t.context(0xc1);

    // A range of the main thread over the events behind `before`, up to the last so far.
    void range(std::string const& name, std::int64_t before, std::int64_t last, std::string const& found,
               std::string const& left, std::string const& kind = "push") {
        t.sql(
            "INSERT INTO nvtx_range (process, thread, kind, domain, message, begin, begin_event, begin_context, end,"
            " end_event, end_thread, end_context) VALUES (1, 1, '" +
            kind + "', NULL, '" + name + "', " + std::to_string(before) + ", " + std::to_string(before) + ", " + found +
            ", " + std::to_string(last) + ", " + std::to_string(last) + ", 1, " + left + ")");
    }
    std::int64_t bind(std::uint64_t handle, std::int64_t to) {
        auto const event = main.call("cuCtxSetCurrent", {.object = handle, .stack = {"switch_to", "main"}});
        main.use(to);
        return event;
    }
};

TEST_F(marked_range, that_leaves_another_context) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    auto const last = bind(0xc1, second);
    range("step", before, last, "1", "2");
    auto const f = only(rule::context_not_restored);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::proven);
    ASSERT_EQ(f.sites.size(), 1u);
    EXPECT_EQ(f.sites[0].call.event, store::event_id{last});
}

TEST_F(marked_range, that_restores_it) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    bind(0xc1, second);
    range("step", before, bind(0xc0, context), "1", "1");
    expect_nothing();
}

TEST_F(marked_range, that_makes_the_first_context_current) {
    auto const last = bind(0xc0, context);
    range("set up", 0, last, "NULL", "1");
    expect_nothing();
}

TEST_F(marked_range, that_leaves_none) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    range("step", before, bind(0, 0), "1", "NULL");
    EXPECT_NE(only(rule::context_not_restored).what.at(0).find("no context when it ended"), std::string::npos);
}

TEST_F(marked_range, in_which_the_context_was_destroyed) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    auto const last = main.call("cuCtxDestroy_v2", {.object = 0xc0});
    range("tear down", before, last, "1", "NULL");
    expect_nothing();
}

TEST_F(marked_range, around_another_is_told_with_it) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    auto const inner = main.call("cuCtxSynchronize");
    auto const bound = bind(0xc1, second);
    auto const last = main.call("cuCtxSynchronize");
    range("outer", before, last, "1", "2");
    range("inner", inner, bound, "1", "2");
    EXPECT_NE(only(rule::context_not_restored).title.find("inner"), std::string::npos);
}

TEST_F(marked_range, that_does_so_again_and_again) {
    auto before = main.use(context).call("cuCtxSynchronize");
    for (int i = 0; i < 3; ++i) {
        range("step", before, bind(0xc1, second), "1", "2");
        before = bind(0xc0, context);
    }
    EXPECT_EQ(only(rule::context_not_restored).count, 3u);
}

TEST_F(marked_range, that_ended_on_another_thread) {
    auto const before = main.use(context).call("cuCtxSynchronize");
    range("step", before, bind(0xc1, second), "1", "2", "start");
    t.sql("UPDATE nvtx_range SET end_thread = 2");
    expect_nothing();
}

// --- left on purpose
// ----------------------------------------------------------------------------------------------------

class intended : public rules {
  protected:
    void name(std::uint64_t what) { main.call("annotation:intended_leak", {.object = what}); }
    void make(std::uint64_t what = buffer) {
        main.use(context).call("cuMemAlloc_v2", {.object = what, .size = mib, .stack = {"make", "main"}});
    }
    void user_object(std::uint64_t handle, std::uint64_t payload) {
        main.call("cuUserObjectCreate", {.object = handle, .other = payload, .size = 1, .stack = {"attach", "main"}});
    }
};

TEST_F(intended, memory) {
    make();
    name(buffer);
    expect_nothing();
}

TEST_F(intended, memory_that_is_not_named_is_told) {
    make();
    make(buffer + mib);
    name(buffer);
    EXPECT_EQ(only(rule::allocation_leak).bytes, mib);
}

TEST_F(intended, only_what_the_address_meant_then) {
    make();
    name(buffer);
    main.call("cuMemFree_v2", {.object = buffer});
    make();
    only(rule::allocation_leak);
}

TEST_F(intended, a_user_object_and_the_memory_that_it_stands_for) {
    make();
    user_object(0x10, 0x20);
    name(0x10);
    expect_nothing();
}

TEST_F(intended, a_user_object_by_its_payload) {
    make();
    user_object(0x10, 0x20);
    name(0x20);
    expect_nothing();
}

TEST_F(intended, a_handle) {
    main.use(context).call("cuStreamCreate", {.object = stream, .stack = {"make", "main"}});
    name(stream);
    expect_nothing();
}

TEST_F(intended, what_a_stopped_queue_holds) {
    make();
    user_object(0x10, 0x20);
    worker.destructor(0x10, 0x20);
    worker.call("annotation:enqueue", {.object = queue, .other = 0x20});
    main.call("annotation:stop", {.object = queue});
    expect_nothing();
}

TEST_F(intended, what_comes_after_the_stop) {
    make();
    user_object(0x10, 0x20);
    main.call("annotation:stop", {.object = queue});
    worker.destructor(0x10, 0x20);
    worker.call("annotation:enqueue", {.object = queue, .other = 0x20});
    expect_nothing();
}

TEST_F(intended, a_release_at_shutdown) {
    make();
    name(buffer);
    t.phase("driver_torn_down");
    main.call("cuMemFree_v2", {.object = buffer, .result = 4, .flags = after_exit | after_teardown});
    EXPECT_TRUE(found(rule::shutdown_release).empty()) << titles(what());
}

TEST_F(intended, marks_in_a_callback_are_no_calls_of_the_driver) {
    main.use(context).call("cuLaunchHostFunc", {.stream = 2, .object = 0x77, .extra = 0xf0});
    worker.call("callback:host_function", {.object = 0x77, .extra = 0xf0});
    worker.call("annotation:intended_leak", {.object = 0x5, .flags = in_callback});
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
