// What a tool hears of the reference, and that nothing is called when none listens. The tool is annotation_tool.cpp.
#include "lastref/reference/nvtx/annotator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "fake_driver.h"
#include "lastref/reference/stream_ordered_buffer.h"

namespace lastref::reference {
namespace {

struct refusing_once final : waker {
    bool wake(deferred_cleanup_queue&) noexcept override { return std::exchange(refused, true); }
    bool refused = false;
};

// NVTX looks for its tool at the first call and never again: each test is a process of its own.
void use_everything() {
    testing::fake_driver calls;
    testing::fake_driver::current = testing::context(1);
    refusing_once wakes;
    deferred_cleanup_queue queue(wakes, annotator::attach());
    auto* const item = make_cleanup_ticket(1).release();
    queue.enqueue(item);
    queue.retry();
    queue.decline();
    queue.retry();
    queue.drain();
    queue.stop();
    auto const buffer = stream_ordered_buffer::allocate(calls, 64, per_thread_stream());
    annotator::intend_leak(0xabc);
}

std::string hear_with_tool() {
    std::string const heard = ::testing::TempDir() + "lastref_annotations_" + std::to_string(::getpid());
    ::setenv("NVTX_INJECTION64_PATH", LASTREF_TEST_TOOL, 1);
    ::setenv("LASTREF_TEST_ANNOTATIONS", heard.c_str(), 1);
    use_everything();
    std::ostringstream text;
    text << std::ifstream(heard).rdbuf();
    std::remove(heard.c_str());
    return text.str();
}

// An item's address is different in each run.
std::string without_addresses(std::string text) {
    for (std::size_t at = 0; (at = text.find("object=", at)) != std::string::npos;) {
        at += 7;
        auto const end = text.find(' ', at);
        if (end - at > 6) text.replace(at, end - at, "ITEM");
    }
    return text;
}

TEST(annotation_test, a_tool_hears_everything) {
    EXPECT_EQ(without_addresses(hear_with_tool()),
              "enqueue version=1 kind=2 queue=1 object=ITEM 0 0 0\n"
              "schedule version=1 kind=3 queue=1 object=0 0 0 0\n"
              "schedule_result version=1 kind=4 queue=1 object=0 0 0 0\n"
              "schedule version=1 kind=3 queue=1 object=0 0 0 0\n"
              "schedule_result version=1 kind=4 queue=1 object=0 1 0 0\n"
              "decline version=1 kind=8 queue=1 object=0 0 0 0\n"
              "schedule version=1 kind=3 queue=1 object=0 0 0 0\n"
              "schedule_result version=1 kind=4 queue=1 object=0 1 0 0\n"
              "drain_begin version=1 kind=5 queue=1 object=0 0 0 0\n"
              "clean version=1 kind=6 queue=1 object=ITEM 0 0 0\n"
              "drain_end version=1 kind=7 queue=1 object=0 1 0 0\n"
              "stop version=1 kind=9 queue=1 object=0 0 0 0\n"
              "recipe version=1 kind=1 queue=0 object=7100 2 1000 1\n"
              "intended_leak version=1 kind=10 queue=0 object=abc 0 0 0\n");
}

TEST(annotation_test, nobody_is_called_when_no_tool_listens) {
    ::unsetenv("NVTX_INJECTION64_PATH");
    EXPECT_EQ(annotator::attach(), nullptr);
    EXPECT_EQ(recipe_observer_in_use.load(), nullptr);
    use_everything();
}

}  // namespace
}  // namespace lastref::reference
