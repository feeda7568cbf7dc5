#include "gui/scenes/flame.h"

#include <gtest/gtest.h>

#include "analyzer/symbols/stacks.h"
#include "tests/gui/scenes/print.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;

constexpr std::uint64_t kib = 1024;

class flames : public ::testing::Test {
  protected:
    flames() {
        auto main = t.thread("main");
        main.use(t.context());
        main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 4 * kib, .stack = {"weights", "load", "main"}});
        main.call("cuMemAlloc_v2", {.object = 0x5000, .size = 2 * kib, .stack = {"buffer", "step", "main"}});
        main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 1 * kib, .stack = {"buffer", "load", "main"}});
        main.call("cuMemAllocHost_v2", {.object = 0x9000, .size = 8 * kib, .stack = {"staging", "main"}});
        main.call("cuMemFree_v2", {.object = 0x5000});
        main.call("cuMemAlloc_v2", {.object = 0xa000, .size = 512, .stack = {"buffer", "step", "main"}});
    }

    std::shared_ptr<flame const> asked(flame_question const& question) {
        if (!trace_) {
            names_ = t.names();
            trace_.emplace(store::trace::open(t.finish()));
            history_ = build_allocation_history(*trace_);
        }
        symbols::stacks stacks(*trace_, *names_);
        return build_flame(*history_, question, namer_of(stacks, *trace_));
    }

    trace_builder t;
    std::unique_ptr<symbols::source> names_;
    std::optional<store::trace> trace_;
    std::shared_ptr<allocation_history const> history_;
};

TEST_F(flames, at_the_peak_from_the_callers_down) {
    EXPECT_EQ(text_of(*asked({})),
              "all: 7168 bytes in 3\n"
              "  main: 7168 bytes in 3\n"
              "    load: 5120 bytes in 2\n"
              "      weights: 4096 bytes in 1\n"
              "      buffer: 1024 bytes in 1\n"
              "    step: 2048 bytes in 1\n"
              "      buffer: 2048 bytes in 1\n");
    EXPECT_EQ(history_->peak_bytes(), 7168u);
}

TEST_F(flames, from_the_allocating_functions_up) {
    EXPECT_EQ(text_of(*asked({flame_moment::peak, 0, flame_order::callees_first})),
              "all: 7168 bytes in 3\n"
              "  weights: 4096 bytes in 1\n"
              "    load: 4096 bytes in 1\n"
              "      main: 4096 bytes in 1\n"
              "  buffer: 3072 bytes in 2\n"
              "    step: 2048 bytes in 1\n"
              "      main: 2048 bytes in 1\n"
              "    load: 1024 bytes in 1\n"
              "      main: 1024 bytes in 1\n");
}

TEST_F(flames, what_is_left_what_there_ever_was_and_a_moment) {
    EXPECT_EQ(asked({flame_moment::end})->nodes[0].bytes, 4 * kib + 1 * kib + 512);
    EXPECT_EQ(asked({flame_moment::ever})->nodes[0].bytes, 7 * kib + 512);
    EXPECT_EQ(asked({flame_moment::at, 1'500'000})->nodes[0].bytes, 4 * kib);
    EXPECT_EQ(asked({flame_moment::at, 4'999'999})->nodes[0].bytes, 7 * kib);
    EXPECT_EQ(asked({flame_moment::at, 5'000'000})->nodes[0].bytes, 5 * kib);  // freed at that very moment
    EXPECT_EQ(asked({flame_moment::at, 500'000})->nodes[0].bytes, 0u);
    EXPECT_EQ(asked({flame_moment::at, 500'000})->nodes.size(), 1u);
}

TEST_F(flames, host_memory_is_apart) {
    EXPECT_EQ(text_of(*asked({flame_moment::end, 0, flame_order::callers_first, flame_side::host})),
              "all: 8192 bytes in 1\n"
              "  main: 8192 bytes in 1\n"
              "    staging: 8192 bytes in 1\n");
    EXPECT_EQ(asked({flame_moment::ever, 0, flame_order::callers_first, flame_side::both})->nodes[0].count, 5u);
}

TEST_F(flames, children_stand_together_behind_their_parents) {
    auto const scene = asked({flame_moment::ever});
    for (std::uint32_t i = 0; i < scene->nodes.size(); ++i) {
        auto const& n = scene->nodes[i];
        for (auto c = n.first_child; c < n.first_child + n.children; ++c) {
            ASSERT_LT(c, scene->nodes.size());
            EXPECT_EQ(scene->nodes[c].parent, i);
            EXPECT_EQ(scene->nodes[c].depth, n.depth + 1);
        }
    }
}

TEST(flame, stacks_that_were_not_recorded) {
    trace_builder t;
    auto main = t.thread("main");
    main.use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
    auto const trace = store::trace::open(t.finish());
    auto const scene = build_flame(*build_allocation_history(trace), {flame_moment::end}, [](store::stack_id) {
        ADD_FAILURE() << "there is no stack to name";
        return std::vector<std::string>{};
    });
    EXPECT_EQ(text_of(*scene), "all: 64 bytes in 1\n  (no call stack recorded): 64 bytes in 1\n");
    EXPECT_THROW(build_flame(*build_allocation_history(trace), {flame_moment::end}, {}, [](double) { return false; }),
                 cancelled);
}

}  // namespace
}  // namespace lastref::test
