#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

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

TEST_F(shutdown_release, by_the_statically_linked_runtime_is_a_note) {
    main.call("cuLibraryLoadData", {.object = 0x90});
    main.call("cuLibraryUnload", {.object = 0x90,
                                  .result = 4,
                                  .flags = after_exit | after_teardown,
                                  .stack = {"libcudart_static_4ae7", "__cudaUnregisterFatBinary",
                                            "__cudaUnregisterBinaryUtil", "libc.so.6!__run_exit_handlers"}});
    auto const f = only(rule::shutdown_release);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.confidence, confidence::proven);
}

TEST_F(shutdown_release, through_the_statically_linked_runtime_by_the_program_is_not) {
    main.use(context).call("cuMemAlloc_v2", {.object = buffer, .size = mib});
    main.call("cuMemFree_v2", {.object = buffer,
                               .result = 4,
                               .flags = after_exit | after_teardown,
                               .stack = {"libcudart_static_4ae7", "cudaFree", "cache::~cache", "libc.so.6!exit"}});
    EXPECT_EQ(only(rule::shutdown_release).severity, severity::error);
}

TEST_F(shutdown_release, what_may_be_the_runtime_is_in_doubt_without_names) {
    main.call("cuLibraryLoadData", {.object = 0x90});
    main.call("cuLibraryUnload", {.object = 0x90,
                                  .result = 4,
                                  .flags = after_exit | after_teardown,
                                  .stack = {"libcudart_static_4ae7", "libc.so.6!exit"}});
    auto const found = analyse_without_names(t).found;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, severity::note);
    EXPECT_EQ(found[0].confidence, confidence::possible);
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

TEST_F(shutdown_release, destructors_at_an_interpreters_end) {
    t.phase("python_initialized");
    for (std::uint64_t i = 0; i < 4; ++i)
        main.call("cuUserObjectCreate", {.object = 0x10 + i, .other = 0x20, .size = 1});
    auto const runs = [&](std::uint64_t i) {
        main.call("cuUserObjectRelease", {.object = 0x10 + i, .size = 1});
        worker.destructor(0x10 + i, 0x20);
    };
    runs(0);
    t.phase("python_finalizing");
    runs(1);
    runs(2);
    t.phase("python_finalized");
    t.phase("python_initialized");  // a program may start another
    runs(3);
    auto const f = only(rule::shutdown_release);
    EXPECT_EQ(f.severity, severity::note);
    EXPECT_EQ(f.count, 2u);
    EXPECT_NE(f.title.find("while the interpreter was finalizing"), std::string::npos) << f.title;
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

}  // namespace
}  // namespace lastref::test
