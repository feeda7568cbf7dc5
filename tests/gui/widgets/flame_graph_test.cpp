#include "gui/widgets/flame_graph.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/widgets/picture.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;
using gui::widgets::flame_graph;

// all → main → {load 60, step 40}, load → {weights 50, buffer 10}
std::shared_ptr<flame const> small() {
    auto out = std::make_shared<flame>();
    out->names = {"all", "main", "load", "step", "weights", "buffer"};
    out->nodes = {{0, 0, 1, 1, 0, 100, 4}, {1, 0, 2, 2, 1, 100, 4}, {2, 1, 4, 2, 2, 60, 3},
                  {3, 1, 6, 0, 2, 40, 1},  {4, 2, 6, 0, 3, 50, 2},  {5, 2, 6, 0, 3, 10, 1}};
    out->depth = 3;
    return out;
}

class flame_widget : public ::testing::Test {
  protected:
    flame_widget() {
        view.resize(800, 400);
        view.set_scene(small());
        view.show();
        QCoreApplication::processEvents();
        gui::widgets::picture_of(view, 1);
    }
    void click(int row, int x) {
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {x, row * (view.fontMetrics().height() + 5) + 5});
    }
    flame_graph view;
};

TEST_F(flame_widget, a_click_zooms_and_the_way_back_is_kept) {
    QSignalSpy chosen(&view, &flame_graph::frame_chosen);
    click(2, 100);
    EXPECT_EQ(view.zoomed(), 2u);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0].at(0).toUInt(), 2u);
    gui::widgets::picture_of(view, 1);
    EXPECT_EQ(view.painted(), 5u);  // all, main, load, weights, buffer
    click(3, 790);                  // buffer is a sixth of the width now
    EXPECT_EQ(view.zoomed(), 5u);
    click(1, 400);
    EXPECT_EQ(view.zoomed(), 1u);
}

TEST_F(flame_widget, keys_walk_the_tree) {
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.current(), 2u);
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.current(), 3u);
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.current(), 3u);
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Return);
    EXPECT_EQ(view.zoomed(), 2u);
    EXPECT_TRUE(view.accessibleDescription().startsWith("load: 60 bytes"))
        << view.accessibleDescription().toStdString();
    QTest::keyClick(&view, Qt::Key_Backspace);
    EXPECT_EQ(view.zoomed(), 1u);
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_EQ(view.zoomed(), 0u);
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(view.current(), 0u);
}

TEST_F(flame_widget, search_counts_each_byte_once) {
    EXPECT_EQ(view.search("LOAD"), 60u);
    EXPECT_EQ(view.search("a"), 100u);  // main, and all below it
    EXPECT_EQ(view.search("ff"), 10u);
    EXPECT_EQ(view.search("nowhere"), 0u);
    EXPECT_EQ(view.search(""), 0u);
}

TEST_F(flame_widget, search_is_seen) {
    auto const before = gui::widgets::picture_of(view, 1);
    view.search("weights");
    EXPECT_NE(gui::widgets::picture_of(view, 1), before);
}

TEST_F(flame_widget, narrow_frames_are_not_painted) {
    auto wide = std::make_shared<flame>();
    wide->names = {"all", "f"};
    wide->nodes.push_back({0, 0, 1, 200'000, 0, 200'000, 200'000});
    for (int i = 0; i < 200'000; ++i) wide->nodes.push_back({1, 0, 200'001, 0, 1, 1, 1});
    wide->depth = 1;
    view.set_scene(wide);
    gui::widgets::picture_of(view, 1);
    EXPECT_LE(view.painted(), 2000u);
    EXPECT_GE(view.painted(), 1u);
}

TEST_F(flame_widget, nothing_at_all) {
    view.set_scene(nullptr);
    gui::widgets::picture_of(view, 1);
    QTest::keyClick(&view, Qt::Key_Down);
    auto empty = std::make_shared<flame>();
    empty->names = {"all"};
    empty->nodes = {{}};
    view.set_scene(empty);
    gui::widgets::picture_of(view, 1);
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.painted(), 0u);
}

}  // namespace
}  // namespace lastref::test
