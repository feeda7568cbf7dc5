#include "analyzer/detectors/growth.h"
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

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

TEST_F(allocation_leak, groups_of_one_place_share_its_history) {
    for (std::uint64_t i = 0; i < 4; ++i) {
        main.use(context).call("cuMemAlloc_v2", {.object = buffer + i * mib, .size = mib, .stack = {"make", "main"}});
        if (i != 2) main.call("cuMemFree_v2", {.object = buffer + i * mib});
        main.call("cuMemAllocManaged", {.object = buffer + (8 + i) * mib, .size = mib, .stack = {"make", "main"}});
    }
    auto const all = found(rule::allocation_leak);
    ASSERT_EQ(all.size(), 2u);
    for (auto const& f : all)
        EXPECT_NE(f.what[1].find("Of 8 allocations made there, 3 were freed"), std::string::npos) << f.what[1];
}

// A place whose comparisons are counted.
struct counted_place {
    std::uint64_t value = 0;
    static inline std::uint64_t compared = 0;
    friend bool operator==(counted_place const& a, counted_place const& b) {
        ++compared;
        return a.value == b.value;
    }
};

}  // namespace
}  // namespace lastref::test

template <>
struct std::hash<lastref::test::counted_place> {
    std::size_t operator()(lastref::test::counted_place const& p) const noexcept {
        return std::hash<std::uint64_t>{}(p.value);
    }
};

namespace lastref::test {
namespace {

struct work {
    std::uint64_t keys = 0;
    std::uint64_t comparisons = 0;
};

// Two stacks a place, as a template's two instances have, and every place asked for once, as for a leak at each.
work work_of(std::uint32_t places) {
    detectors::populations all;
    for (std::uint32_t i = 1; i <= 2 * places; ++i) all.at(store::stack_id{i}).add(i);
    work out;
    counted_place::compared = 0;
    auto const key_of = [&out](store::stack_id stack) {
        ++out.keys;
        return counted_place{(stack.value - 1) / 2};
    };
    auto const sums = all.by_key(key_of, 0, 1000);
    EXPECT_EQ(sums.size(), places);
    for (std::uint32_t i = 0; i < places; ++i) EXPECT_EQ(sums.at(counted_place{i}).made, 2u);
    out.comparisons = counted_place::compared;
    return out;
}

TEST(populations, work_grows_as_the_places_do) {
    auto const few = work_of(1000), many = work_of(8000);
    EXPECT_EQ(few.keys, 2000u);
    EXPECT_EQ(many.keys, 16000u);
    EXPECT_LE(many.comparisons, 12 * few.comparisons) << few.comparisons;
    EXPECT_LE(many.comparisons, 10u * 8000u);
}

}  // namespace
}  // namespace lastref::test
