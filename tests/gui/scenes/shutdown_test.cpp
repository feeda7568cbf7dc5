#include "gui/scenes/shutdown.h"

#include <gtest/gtest.h>

#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

TEST(shutdown_scene, small_program) {
    trace_builder t;
    write_small_program(t);
    expect_golden(text_of(*build_shutdown(store::trace::open(t.finish()))), "shutdown.txt");
}

TEST(shutdown_scene, what_is_meant_to_be_left_stands_apart) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 100});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 30});
    main.call("cuMemAlloc_v2", {.object = 0x3000, .size = 7});
    t.phase("exit_begin");
    t.phase("end");
    t.ends("clean");
    auto const meant = [](model::object const& o) { return o.handle == 0x1000; };
    auto const scene = build_shutdown(store::trace::open(t.finish()), {}, meant);
    auto const& p = scene->processes.at(0);
    EXPECT_EQ(p.left_bytes, 37u);
    ASSERT_EQ(p.left.size(), 1u);
    EXPECT_EQ(p.left[0].count, 2u);
    EXPECT_EQ(p.left[0].first, store::event_id{2});
    ASSERT_EQ(p.intended.size(), 1u);
    EXPECT_EQ(p.intended[0].bytes, 100u);
}

TEST(shutdown_scene, only_what_came_after_mains_last_call) {
    trace_builder t;
    auto main = t.thread("main");
    auto worker = t.thread("worker");
    auto const context = t.context();
    main.use(context);
    worker.use(context);
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 100});
    worker.call("cuMemAlloc_v2", {.object = 0x2000, .size = 30});
    worker.call("cuMemFree_v2", {.object = 0x2000});
    main.call("cuMemFree_v2", {.object = 0x1000});
    worker.call("cuMemAlloc_v2", {.object = 0x3000, .size = 7});
    worker.call("cuMemFree_v2", {.object = 0x3000});
    t.ends("abrupt", {}, 9);
    auto const scene = build_shutdown(store::trace::open(t.finish()));
    auto const& p = scene->processes.at(0);
    EXPECT_FALSE(p.orderly);
    ASSERT_EQ(p.phases.size(), 1u);
    ASSERT_EQ(p.phases[0].released.size(), 1u);
    EXPECT_EQ(p.phases[0].released[0].count, 2u);
    EXPECT_EQ(p.phases[0].released[0].bytes, 107u);
    EXPECT_TRUE(p.left.empty());
}

TEST(shutdown_scene, processes_without_calls_are_left_out) {
    trace_builder t;
    t.thread("main");
    EXPECT_TRUE(build_shutdown(store::trace::open(t.finish()))->processes.empty());
}

}  // namespace
}  // namespace lastref::test
