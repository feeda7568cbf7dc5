#include "gui/scenes/holders.h"

#include <gtest/gtest.h>

#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

std::shared_ptr<payload_stories const> stories_of(trace_builder& t) {
    return build_payload_stories(store::trace::open(t.finish()));
}

TEST(holders, small_program) {
    trace_builder t;
    write_small_program(t);
    expect_golden(text_of(*stories_of(t)), "holders-small.txt");
}

TEST(holders, graphs_clones_and_a_launch_in_flight) {
    trace_builder t;
    write_many_holders(t);
    expect_golden(text_of(*stories_of(t)), "holders-many.txt");
}

TEST(holders, at_every_moment_the_sum_is_the_ledgers) {
    trace_builder t;
    write_many_holders(t);
    auto const scene = stories_of(t);
    auto const story = scene->story(0);
    EXPECT_EQ(story->references_at(story->created_at - 1), 0);
    EXPECT_EQ(story->references_at(story->created_at), 2);
    EXPECT_EQ(story->references_at(story->end), 1);  // the executable graph that is left
    EXPECT_EQ(scene->find(story->created), 0u);
    EXPECT_FALSE(scene->find(store::event_id{1}));
}

TEST(holders, over_released) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuUserObjectCreate", {.object = 0xa, .size = 1});
    main.call("cuUserObjectRelease", {.object = 0xa, .size = 3});
    auto const story = stories_of(t)->story(0);
    EXPECT_EQ(story->references_at(story->end), -2);
    EXPECT_NE(story->verdict().find("never run"), std::string::npos);
}

TEST(holders, an_updated_executable_graph_lives_on) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuUserObjectCreate", {.object = 0xa, .size = 1});
    main.call("cuGraphCreate", {.object = 0x90});
    main.call("cuGraphRetainUserObject", {.object = 0xa, .other = 0x90, .size = 1, .extra = 1});
    main.call("cuGraphInstantiateWithFlags", {.object = 0x91, .other = 0x90});
    main.call("cuGraphCreate", {.object = 0x92});
    main.call("cuGraphExecUpdate_v2", {.object = 0x91, .other = 0x92});
    auto const story = stories_of(t)->story(0);
    ASSERT_EQ(story->holders.size(), 3u);
    EXPECT_EQ(story->holders[2].name, "executable graph 0x91");
    EXPECT_EQ(story->holders[2].count_at(story->end), 0);
    EXPECT_FALSE(story->holders[2].gone_at);
    EXPECT_EQ(story->holders[1].count_at(story->end), 1);
}

// A program that clones the clone of a clone must not make the chain as deep as it runs long.
TEST(holders, chains_end_somewhere) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuUserObjectCreate", {.object = 0xa, .size = 1});
    main.call("cuGraphCreate", {.object = 0x1000});
    main.call("cuGraphRetainUserObject", {.object = 0xa, .other = 0x1000, .size = 1, .extra = 1});
    for (std::uint64_t i = 0; i < 200; ++i) {
        main.call("cuGraphClone", {.object = 0x1001 + i, .other = 0x1000 + i});
        main.call("cuGraphDestroy", {.object = 0x1000 + i});
    }
    auto const story = stories_of(t)->story(0);
    EXPECT_EQ(story->references_at(story->end), 1);
    EXPECT_EQ(story->holders.size(), 202u);
}

}  // namespace
}  // namespace lastref::test
