// incomplete-recipe, pool-retention, slow-callback, deferred-backlog, ipc-order, first-error.
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

class incomplete_recipe : public rules {
  protected:
    incomplete_recipe() { main.use(context); }
    void allocate(std::uint64_t on) {
        main.call("cuMemAllocAsync", {.stream = on, .object = buffer, .size = mib, .stack = {"make", "main"}});
    }
    void free(std::uint64_t on, std::int64_t in) {
        main.call("cuMemFreeAsync", {.stream = on, .object = buffer, .context = in, .stack = {"drop", "main"}});
    }
    std::int64_t other = t.context(0xd0);
};

TEST_F(incomplete_recipe, token_under_another_context) {
    allocate(legacy);
    free(legacy, other);
    auto const f = only(rule::incomplete_recipe);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.confidence, confidence::proven);
}

TEST_F(incomplete_recipe, without_harm_it_is_a_note) {
    allocate(legacy);
    main.call("cuCtxSynchronize");
    free(per_thread, other);
    EXPECT_EQ(only(rule::incomplete_recipe).severity, severity::note);
}

TEST_F(incomplete_recipe, token_under_the_allocations_context_is_none) {
    allocate(legacy);
    free(legacy, context);
    expect_nothing();
}

TEST_F(incomplete_recipe, created_stream_under_another_context_is_none) {
    main.call("cuStreamCreate", {.object = stream, .extra = 1});
    allocate(stream);
    free(stream, other);
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    expect_nothing();
}

class pool_retention : public rules {
  protected:
    static constexpr std::uint64_t pool = 0x90;
    pool_retention() {
        main.use(context);
        main.call("cuStreamCreate", {.object = stream, .extra = 1});
        main.call("cuMemPoolCreate", {.object = pool});
        main.call("cuMemAllocFromPoolAsync", {.stream = stream, .object = buffer, .other = pool, .size = mib});
    }
    void free() { main.call("cuMemFreeAsync", {.stream = stream, .object = buffer}); }
    void trim() { main.call("cuMemPoolTrimTo", {.object = pool, .stack = {"shrink", "main"}}); }
    void synchronize() { main.call("cuStreamSynchronize", {.stream = stream, .object = stream}); }
    void end() {
        main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
        main.call("cuMemPoolDestroy", {.object = pool});
    }
};

TEST_F(pool_retention, trim_with_frees_pending) {
    free();
    trim();
    end();
    auto const f = only(rule::pool_retention);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.bytes, mib);
}

TEST_F(pool_retention, trim_after_a_wait_is_none) {
    free();
    synchronize();
    trim();
    end();
    expect_nothing();
}

TEST_F(pool_retention, a_later_trim_makes_it_good) {
    free();
    trim();
    synchronize();
    trim();
    end();
    expect_nothing();
}

TEST_F(pool_retention, destroyed_in_use_is_a_note) {
    main.call("cuMemPoolDestroy", {.object = pool, .stack = {"close", "main"}});
    free();
    main.call("cuStreamDestroy_v2", {.stream = stream, .object = stream});
    EXPECT_EQ(only(rule::pool_retention).severity, severity::note);
}

TEST_F(pool_retention, reserved_far_above_used) {
    std::uint64_t const reserved = 5, used = 7;
    main.call("cuMemPoolGetAttribute", {.object = pool, .size = 1000 * mib, .extra = reserved});
    main.call("cuMemPoolGetAttribute", {.object = pool, .size = mib, .extra = used});
    trace_builder& same = t;
    free();
    synchronize();
    main.call("cuMemPoolGetAttribute", {.object = 0x91, .size = 100 * mib, .extra = reserved});
    main.call("cuMemPoolGetAttribute", {.object = 0x91, .size = 90 * mib, .extra = used});
    same.phase("exit_begin");
    auto const all = found(rule::pool_retention);
    ASSERT_EQ(all.size(), 1u) << titles(what());
    EXPECT_EQ(all[0].bytes, 999 * mib);
}

TEST_F(pool_retention, graph_memory_that_was_not_trimmed) {
    free();
    synchronize();
    main.call("cuDeviceGetGraphMemAttribute", {.size = 0, .extra = 0});
    main.call("cuDeviceGetGraphMemAttribute", {.size = mib, .extra = 2});
    end();
    only(rule::pool_retention);
}

TEST_F(pool_retention, graph_memory_that_was_trimmed_is_none) {
    free();
    synchronize();
    main.call("cuDeviceGetGraphMemAttribute", {.size = 0, .extra = 0});
    main.call("cuDeviceGetGraphMemAttribute", {.size = mib, .extra = 2});
    main.call("cuDeviceGraphMemTrim", {});
    end();
    expect_nothing();
}

class slow_callback : public rules {};

TEST_F(slow_callback, host_function_that_takes_long) {
    worker.call("callback:host_function", {.object = 0x77, .extra = 0xf0, .lasts_ms = 120});
    worker.call("callback:host_function", {.object = 0x78, .extra = 0xf0, .lasts_ms = 80});
    auto const f = only(rule::slow_callback);
    EXPECT_EQ(f.severity, severity::warning);
    EXPECT_EQ(f.count, 2u);
    EXPECT_NE(f.title.find("120 ms"), std::string::npos) << f.title;
}

TEST_F(slow_callback, one_that_never_returned_is_an_error) {
    worker.call("callback:stream", {.object = 0x77, .extra = 0xf0, .result = std::nullopt});
    EXPECT_EQ(only(rule::slow_callback).severity, severity::error);
}

TEST_F(slow_callback, short_ones_are_none) {
    for (int i = 0; i < 20; ++i) worker.call("callback:host_function", {.object = 0x77, .extra = 0xf0, .lasts_ms = 20});
    expect_nothing();
}

class deferred_backlog : public rules {
  protected:
    void payloads(std::uint64_t count) {
        main.use(context);
        for (std::uint64_t i = 0; i < count; ++i) {
            main.call("cuMemAlloc_v2", {.object = buffer + i * mib, .size = mib, .stack = {"make", "attach", "main"}});
            main.call("cuUserObjectCreate",
                      {.object = 0x10 + i, .other = 0x20 + i, .size = 1, .stack = {"attach", "main"}});
            main.call("cuUserObjectRelease", {.object = 0x10 + i, .size = 1});
            worker.destructor(0x10 + i, 0x20 + i);
        }
    }
    void drain(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i)
            main.call("cuMemFree_v2", {.object = buffer + i * mib, .stack = {"drain", "main"}});
    }
};

TEST_F(deferred_backlog, drained_once_after_a_long_time) {
    payloads(20);
    t.wait_ms(1000);
    drain(20);
    auto const f = only(rule::deferred_backlog);
    EXPECT_EQ(f.count, 20u);
    EXPECT_EQ(f.bytes, 20 * mib);
    EXPECT_EQ(f.severity, severity::warning);
}

TEST_F(deferred_backlog, with_its_wake_ups_refused) {
    payloads(20);
    auto const attempt = [&](std::uint64_t number, bool accepted) {
        return worker.call("python:add_pending_call",
                           {.object = number, .size = accepted, .extra = 0xd0, .flags = 1, .stack = {"wake"}});
    };
    attempt(1, false);
    attempt(2, false);
    t.wait_ms(1000);
    attempt(3, true);
    auto const run = main.call("python:pending_call", {.object = 3, .extra = 0xd0});
    drain(20);
    t.sql("UPDATE event SET duration = 1000000000 WHERE id = " + std::to_string(run));
    auto const f = only(rule::deferred_backlog);
    ASSERT_EQ(f.what.size(), 2u);
    EXPECT_NE(f.what.back().find("Py_AddPendingCall refused 2 wake-ups"), std::string::npos) << f.what.back();
    EXPECT_NE(f.what.back().find("one was accepted"), std::string::npos) << f.what.back();
    ASSERT_EQ(what().pending.size(), 1u);
    auto const& p = what().pending.front();
    EXPECT_EQ(p.attempts, 3u);
    EXPECT_EQ(p.refused, 2u);
    EXPECT_EQ(p.runs, 1u);
    EXPECT_EQ(p.payload_callbacks, 20u);
    EXPECT_EQ(p.frees, 20u);
    EXPECT_EQ(p.freed_bytes, 20 * mib);
    EXPECT_EQ(p.waiting, 0u);
}

TEST_F(deferred_backlog, drained_soon_is_none) {
    payloads(20);
    drain(20);
    expect_nothing();
}

TEST_F(deferred_backlog, a_few_that_wait_long_are_none) {
    payloads(5);
    t.wait_ms(1000);
    drain(5);
    expect_nothing();
}

TEST_F(deferred_backlog, never_drained_is_a_leak) {
    payloads(20);
    t.wait_ms(1000);
    EXPECT_TRUE(found(rule::deferred_backlog).empty());
    EXPECT_EQ(found(rule::allocation_leak).size(), 1u) << titles(what());
}

class ipc_order : public rules {
  protected:
    ipc_order() { main.use(context); }
    void open() { main.call("cuIpcOpenMemHandle_v2", {.object = buffer, .stack = {"import", "main"}}); }
    void close() { main.call("cuIpcCloseMemHandle", {.object = buffer}); }
};

TEST_F(ipc_order, opened_twice_and_closed_once) {
    open();
    open();
    close();
    auto const f = only(rule::ipc_order);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_NE(f.title.find("opened 2 times and closed once"), std::string::npos) << f.title;
}

TEST_F(ipc_order, closed_as_often_as_opened_is_none) {
    open();
    open();
    close();
    close();
    expect_nothing();
}

TEST_F(ipc_order, imported_pool_destroyed_before_its_pointers) {
    main.call("cuMemPoolImportFromShareableHandle", {.object = 0x90});
    main.call("cuMemPoolImportPointer", {.object = buffer, .other = 0x90});
    main.call("cuMemPoolDestroy", {.object = 0x90, .stack = {"close", "main"}});
    main.call("cuMemFree_v2", {.object = buffer});
    only(rule::ipc_order);
}

TEST_F(ipc_order, imported_pool_destroyed_last_is_none) {
    main.call("cuMemPoolImportFromShareableHandle", {.object = 0x90});
    main.call("cuMemPoolImportPointer", {.object = buffer, .other = 0x90});
    main.call("cuMemFree_v2", {.object = buffer});
    main.call("cuMemPoolDestroy", {.object = 0x90});
    expect_nothing();
}

TEST_F(ipc_order, exporter_frees_while_another_process_has_it_open) {
    main.call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuIpcGetMemHandle", {.object = buffer});
    t.process("/build/importer", 5000);
    auto importer = t.thread("importer");
    importer.use(t.context(0xe0)).call("cuIpcOpenMemHandle_v2", {.object = buffer + 8 * mib});
    main.call("cuMemFree_v2", {.object = buffer});
    importer.call("cuIpcCloseMemHandle", {.object = buffer + 8 * mib});
    auto const f = only(rule::ipc_order);
    EXPECT_EQ(f.confidence, confidence::possible);
}

TEST_F(ipc_order, exporter_frees_last_is_none) {
    main.call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuIpcGetMemHandle", {.object = buffer});
    t.process("/build/importer", 5000);
    auto importer = t.thread("importer");
    importer.use(t.context(0xe0)).call("cuIpcOpenMemHandle_v2", {.object = buffer + 8 * mib});
    importer.call("cuIpcCloseMemHandle", {.object = buffer + 8 * mib});
    main.call("cuMemFree_v2", {.object = buffer});
    expect_nothing();
}

class first_error : public rules {};

TEST_F(first_error, what_follows_is_listed_under_it) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib, .stack = {"make", "main"}});
    main.call("cuLaunchKernel", {.object = 0x1, .size = 1, .stack = {"step", "main"}});
    main.call("cuCtxSynchronize", {.result = 700, .stack = {"wait", "main"}});
    main.call("cuMemcpyDtoH_v2", {.object = 1, .other = buffer, .size = 1, .result = 700});
    main.call("cuMemFree_v2", {.object = buffer, .result = 700});
    auto const f = only(rule::first_error);
    EXPECT_EQ(f.severity, severity::error);
    EXPECT_NE(f.title.find("cuCtxSynchronize was the first"), std::string::npos) << f.title;
    EXPECT_NE(f.what[1].find("2 calls"), std::string::npos) << f.what[1];
    ASSERT_EQ(f.consequences.size(), 1u);
    EXPECT_EQ(f.bytes, mib);
    EXPECT_EQ(f.sites[1].role, "latest kernel launch before");
}

TEST_F(first_error, what_was_left_behind_needs_no_finding_of_its_own) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuMemPoolCreate", {.object = 0x90});
    main.call("cuCtxSynchronize", {.result = 719});
    only(rule::first_error);
}

TEST_F(first_error, ordinary_errors_are_none) {
    main.use(context).call("cuMemAlloc_v2", {.size = mib, .result = 2});
    main.call("cuStreamQuery", {.result = 600});
    expect_nothing();
}

TEST_F(first_error, what_went_with_the_context_is_no_consequence) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuMemFree_v2", {.object = buffer, .result = 700});
    main.call("cuCtxDestroy_v2", {.object = 0xc0});
    EXPECT_TRUE(only(rule::first_error).consequences.empty());
}

class after_warm_up : public rules {
  protected:
    std::string found_after(store::time_ns warm_up) {
        auto const trace = store::trace::open(t.finish());
        return titles(detectors::analyse(trace, {}, nullptr, {warm_up}));
    }
    findings::analysis by_range(std::vector<std::string> names) {
        auto const trace = store::trace::open(t.finish());
        return detectors::analyse(trace, {}, nullptr, {std::nullopt, std::move(names)});
    }
    std::int64_t step() {
        main.use(context).call("cuMemAllocHost_v2", {.object = 0x7000, .size = 64, .stack = {"stage", "main"}});
        main.call("cuMemFreeHost", {.object = 0x7000});
        main.call("cuModuleLoadData", {.object = 0x90, .stack = {"load", "main"}});
        main.call("cuModuleUnload", {.object = 0x90});
        main.call("cuMemAllocAsync", {.stream = stream, .object = buffer, .size = 64});
        return main.call("cuMemFreeAsync", {.stream = stream, .object = buffer});
    }
    static std::uint64_t allocations(findings::analysis const& what) {
        std::uint64_t out = 0;
        for (auto const& f : of_rule(what, rule::steady_state_allocation)) out += f.count;
        return out;
    }
};

TEST_F(after_warm_up, allocations_and_loads) {
    step();
    t.wait_ms(100);
    for (int i = 0; i < 3; ++i) step();
    auto const all = found_after(50'000'000);
    EXPECT_NE(all.find("steady-state-allocation: 3 allocations of 192 bytes by cuMemAllocHost"), std::string::npos)
        << all;
    EXPECT_NE(all.find("late-module-load: 3 loads by cuModuleLoadData"), std::string::npos) << all;
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
}

TEST_F(after_warm_up, all_within_it_is_none) {
    step();
    EXPECT_EQ(found_after(50'000'000), "");
}

TEST_F(after_warm_up, ends_with_the_range_of_that_name) {
    auto const warm = step();
    for (int i = 0; i < 3; ++i) step();
    t.nvtx_range(main, "Warm-up", 0, warm, {.domain = "trainer"});
    auto const all = titles(what());
    EXPECT_NE(all.find("steady-state-allocation: 3 allocations of 192 bytes"), std::string::npos) << all;
    EXPECT_NE(all.find("late-module-load: 3 loads"), std::string::npos) << all;
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
    EXPECT_EQ(what().found[0].confidence_reason,
              "the calls came after warm-up, whose range \"Warm-up\" ended at 0.007 s");
}

TEST_F(after_warm_up, ends_with_a_test_of_that_name) {
    auto const warm = step();
    step();
    t.range("warm_up", 0, warm);
    EXPECT_EQ(allocations(what()), 1u);
}

TEST_F(after_warm_up, ends_with_the_range_that_is_asked_for) {
    auto const first = step();
    auto const second = step();
    step();
    t.nvtx_range(main, "warm-up", 0, first);
    t.nvtx_range(main, "compile", first, second);
    EXPECT_EQ(allocations(by_range({"Compile"})), 1u);
}

TEST_F(after_warm_up, ends_with_the_last_of_several) {
    auto const first = step();
    step();
    auto const third = step();
    step();
    t.nvtx_range(main, "load", 0, first);
    t.nvtx_range(main, "compile", first + 6, third);
    EXPECT_EQ(allocations(by_range({"load", "compile"})), 1u) << "what lies between them is warm-up, too";
}

TEST_F(after_warm_up, goes_on_in_later_ranges_of_the_name) {
    auto const first = step();
    auto const second = step();
    auto const third = step();
    step();
    t.nvtx_range(main, "warm-up", 0, first);
    t.nvtx_range(worker, "warm-up", second, third);
    EXPECT_EQ(allocations(what()), 2u) << "on whichever thread";
}

TEST_F(after_warm_up, never_ends_with_a_range_that_did_not) {
    step();
    step();
    t.nvtx_range(main, "warm-up", 0, {});
    expect_nothing();
}

TEST_F(after_warm_up, of_each_process_is_its_own) {
    auto const warm = step();
    t.nvtx_range(main, "warm-up", 0, warm);
    t.process("/build/other", 4712);
    auto other = t.thread("main").use(t.context());
    for (int i = 0; i < 2; ++i) {
        other.call("cuMemAllocHost_v2", {.object = 0x7000, .size = 64, .stack = {"stage", "main"}});
        other.call("cuMemFreeHost", {.object = 0x7000});
    }
    expect_nothing();
}

TEST_F(after_warm_up, by_a_time_asked_for_leaves_ranges_alone) {
    auto const warm = step();
    step();
    t.nvtx_range(main, "warm-up", 0, warm);
    EXPECT_EQ(found_after(50'000'000), "");
}

// A name with a mistake in it must not look like a program without a fault.
TEST_F(after_warm_up, of_an_unknown_name_is_incomplete) {
    auto const warm = step();
    step();
    t.nvtx_range(main, "warm-up", 0, warm);
    auto const asked = by_range({"warmup", "warm-up"});
    ASSERT_EQ(asked.incomplete.size(), 1u);
    EXPECT_EQ(asked.incomplete[0], "No range is called \"warmup\": when warm-up was over is not known.");
    EXPECT_EQ(allocations(asked), 1u);
}

TEST_F(after_warm_up, nothing_where_nobody_asked) {
    step();
    t.wait_ms(100);
    step();
    expect_nothing();
}

}  // namespace
}  // namespace lastref::test
