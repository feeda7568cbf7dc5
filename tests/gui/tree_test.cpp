// Allocations by call stack as a tree.
#include "gui/models/export.h"
#include "gui/models/flame_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/gui/example_trace.h"

namespace lastref::gui {
namespace {

std::shared_ptr<scenes::flame const> flame_of(test::example_trace const& example, scenes::flame_order order) {
    scenes::flame_question asked;
    asked.moment = scenes::flame_moment::ever;
    asked.order = order;
    return test::loaded(example.path())->flame(asked, {});
}

// All of a branch's bytes are its children's and its own.
void expect_sums(flame_model const& model, scenes::flame const& flame) {
    for (auto const& node : flame.nodes) {
        std::uint64_t below = 0;
        for (std::uint32_t i = 0; i < node.children; ++i) below += flame.nodes[node.first_child + i].bytes;
        EXPECT_LE(below, node.bytes);
    }
    EXPECT_EQ(model.rowCount(), static_cast<int>(flame.nodes.front().children));
}

TEST(flame_tree, both_ways) {
    test::example_trace const example;
    flame_model model;
    QAbstractItemModelTester const test(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    for (auto const order : {scenes::flame_order::callers_first, scenes::flame_order::callees_first}) {
        auto const flame = flame_of(example, order);
        model.show(flame);
        expect_sums(model, *flame);
        ASSERT_GT(model.rowCount(), 0);
        auto const top = model.index(0, 0);
        ASSERT_GT(model.rowCount(top), 0) << model_text(model).toStdString();
        EXPECT_EQ(model.parent(model.index(0, 0, top)), top);
    }
    model.show(nullptr);
    EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace lastref::gui
