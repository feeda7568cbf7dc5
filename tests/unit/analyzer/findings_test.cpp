#include <gtest/gtest.h>

#include "analyzer/findings/code_owner.h"
#include "analyzer/findings/noise.h"
#include "analyzer/findings/rules.h"
#include "analyzer/findings/wording.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::findings {
namespace {

TEST(wording, bytes) {
    EXPECT_EQ(bytes_text(0), "0 bytes");
    EXPECT_EQ(bytes_text(1), "1 byte");
    EXPECT_EQ(bytes_text(1023), "1,023 bytes");
    EXPECT_EQ(bytes_text(1024), "1 KiB");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text(3u << 20), "3 MiB");
    EXPECT_EQ(bytes_text((1u << 20) - 1), "1 MiB");
    EXPECT_EQ(bytes_text(std::uint64_t{1} << 63), "8 EiB");
}

TEST(wording, counts) {
    EXPECT_EQ(counted(std::int64_t{0}), "0");
    EXPECT_EQ(counted(std::int64_t{999}), "999");
    EXPECT_EQ(counted(std::int64_t{1000}), "1,000");
    EXPECT_EQ(counted(std::int64_t{-1234567}), "-1,234,567");
    EXPECT_EQ(counted(std::int64_t{-123}), "-123");
    EXPECT_EQ(counted(1, "buffer"), "1 buffer");
    EXPECT_EQ(counted(2, "buffer"), "2 buffers");
}

TEST(wording, results) {
    EXPECT_EQ(result_text(201), "CUDA_ERROR_INVALID_CONTEXT (201)");
    EXPECT_EQ(result_text(12345), "error 12345");
}

TEST(rule_table, names_lead_back) {
    for (int i = 0; i < static_cast<int>(rule::count); ++i) {
        auto const r = static_cast<rule>(i);
        EXPECT_EQ(rule_named(info(r).name), r);
        EXPECT_FALSE(info(r).summary.empty());
    }
    EXPECT_FALSE(rule_named("no-such-rule"));
    EXPECT_NE(rule_names().find("failed-free"), std::string::npos);
}

TEST(noise, patterns) {
    noise_list const list(
        "# comment\nbinding libffi.so*\n\n  binding */cuda/bindings/* # behind\nfile memory.py\n"
        "function c10::*Allocator*\nfunction exact\nnonsense\nunknown kind\n");
    EXPECT_TRUE(list.is_binding("/usr/lib/libffi.so.8"));
    EXPECT_FALSE(list.is_binding("/usr/lib/mylibffi.so.8"));
    EXPECT_FALSE(list.is_binding("/usr/libffi.so/other"));
    EXPECT_TRUE(list.is_binding("/v/site-packages/cuda/bindings/driver.so"));
    EXPECT_FALSE(list.is_binding("/v/site-packages/cuda/core/driver.so"));
    EXPECT_FALSE(list.is_binding(""));
    EXPECT_TRUE(list.holds("", "/a/memory.py"));
    EXPECT_FALSE(list.is_binding("/a/memory.py"));
    EXPECT_TRUE(list.holds("c10::cuda::CachingAllocator::malloc(int)", ""));
    EXPECT_TRUE(list.holds("exact", ""));
    EXPECT_FALSE(list.holds("exactly", ""));
    EXPECT_FALSE(list.holds("", ""));
}

TEST(noise, built_in_list) {
    auto const& list = noise_list::built_in();
    EXPECT_TRUE(list.is_binding("/lib/x86_64-linux-gnu/libffi.so.8"));
    EXPECT_TRUE(list.is_binding("/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"));
    EXPECT_TRUE(list.holds("c10::cuda::CUDACachingAllocator::Native::malloc", "/v/torch/lib/libc10_cuda.so"));
    EXPECT_FALSE(list.holds("train_step", "/app/train"));
}

TEST(code_owner, by_path) {
    constexpr auto program = "/data/build/demo";
    EXPECT_EQ(owner_of(program, program), code_owner::program);
    EXPECT_EQ(owner_of("/data/build/libmine.so", program), code_owner::program);
    EXPECT_EQ(owner_of("/usr/lib/x86_64-linux-gnu/libfoo.so.1", program), code_owner::library);
    EXPECT_EQ(owner_of("/data/venv/lib/python3.11/site-packages/torch/lib/libc10_cuda.so", program),
              code_owner::library);
    EXPECT_EQ(owner_of("/data/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.13", program),
              code_owner::cuda);
    EXPECT_EQ(owner_of("/usr/lib/x86_64-linux-gnu/libcuda.so.1", program), code_owner::cuda);
    EXPECT_EQ(owner_of("/usr/lib/x86_64-linux-gnu/libc.so.6", program), code_owner::system);
    EXPECT_EQ(owner_of("/usr/bin/python3.11", "/usr/bin/python3.11"), code_owner::interpreter);
    EXPECT_EQ(owner_of("", program), code_owner::unknown);
}

TEST(code_owner, statically_linked_runtime_by_name) {
    for (auto const* name : {"libcudart_static_4ae7", "__cudaUnregisterFatBinary"})
        EXPECT_TRUE(is_static_runtime(name)) << name;
    for (auto const* name : {"cudaCheck(int)", "cuda::cache::drop", "cudaHelperInit", "main", ""})
        EXPECT_FALSE(is_static_runtime(name)) << name;
}

class completeness : public ::testing::Test {
  protected:
    std::vector<std::string> reasons() { return test::analyse(t).incomplete; }
    test::trace_builder t;
    test::thread_builder main = t.thread("main");
};

TEST_F(completeness, of_a_finished_trace) {
    main.call("cuCtxGetCurrent");
    EXPECT_TRUE(reasons().empty());
}

TEST_F(completeness, dropped_records) {
    main.call("cuCtxGetCurrent");
    t.loss("records_dropped", 3);
    ASSERT_EQ(reasons().size(), 1u);
}

TEST_F(completeness, losses_that_the_schema_does_not_know_count) {
    main.call("cuCtxGetCurrent");
    t.loss("of_a_newer_collector", 1);
    EXPECT_EQ(reasons().size(), 1u);
}

TEST_F(completeness, cut_stacks_hide_nothing) {
    main.call("cuCtxGetCurrent");
    t.loss("stacks_cut", 3);
    auto const what = test::analyse(t);
    EXPECT_TRUE(what.incomplete.empty());
    auto const cut =
        std::find_if(what.losses.begin(), what.losses.end(), [](auto const& l) { return l.name == "stacks_cut"; });
    ASSERT_NE(cut, what.losses.end());
    EXPECT_EQ(cut->count, 3);
}

TEST_F(completeness, every_loss_is_listed_with_its_count) {
    auto const what = test::analyse(t);
    std::size_t known = 0;
#define LASTREF_LOSS(name, text) ++known;
#include "schema/loss.def"
#undef LASTREF_LOSS
    EXPECT_EQ(what.losses.size(), known);
    for (auto const& l : what.losses) EXPECT_EQ(l.count, 0) << l.name;
}

TEST_F(completeness, unfinished_recording) {
    main.call("cuCtxGetCurrent");
    t.state("recording");
    EXPECT_EQ(reasons().size(), 1u);
}

TEST_F(completeness, abrupt_end_of_a_process_that_used_the_driver) {
    main.call("cuCtxGetCurrent");
    t.ends("abrupt", {}, 11);
    ASSERT_EQ(reasons().size(), 1u);
}

TEST_F(completeness, trace_without_a_call) {
    EXPECT_EQ(reasons().size(), 1u);
}

TEST_F(completeness, abrupt_end_of_a_process_that_did_not) {
    main.call("cuCtxGetCurrent");
    t.process("/build/child", 4712);
    t.ends("abrupt", {}, 11);
    EXPECT_TRUE(reasons().empty());
}

TEST_F(completeness, process_that_became_another_program) {
    main.call("cuCtxGetCurrent");
    t.ends("exec", {});
    EXPECT_TRUE(reasons().empty());
}

TEST_F(completeness, spool_that_was_not_read) {
    t.sql("UPDATE process SET spool = '/tmp/x.spool'");
    main.call("cuCtxGetCurrent");
    EXPECT_EQ(reasons().size(), 1u);
}

}  // namespace
}  // namespace lastref::findings
