#include "gui/widgets/timeline_view.h"

#include <gtest/gtest.h>

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "gui/scenes/timeline_builder.h"
#include "gui/widgets/picture.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using gui::scenes::call_timeline;
using gui::widgets::timeline_view;

std::shared_ptr<call_timeline const> small_scene() {
    trace_builder t;
    write_small_program(t);
    return gui::scenes::build_timeline(store::trace::open(t.finish()));
}

class timeline_widget : public ::testing::Test {
  protected:
    timeline_widget() {
        view.resize(1000, 500);
        view.set_scene(small_scene());
        view.show();
        QCoreApplication::processEvents();
    }
    store::time_ns seen() const { return view.visible_to() - view.visible_from(); }

    int x_of(store::time_ns at) const { return static_cast<int>(view.scale().x(at)); }
    void wheel(int x, int turns, Qt::KeyboardModifiers keys = {}) {
        QPointF const at(x, 120);
        QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, {0, turns * 120}, Qt::NoButton, keys,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(view.viewport(), &event);
    }
    void drag(QPoint from, QPoint to) {
        QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
        QTest::mouseMove(view.viewport(), (from + to) / 2);
        QTest::mouseMove(view.viewport(), to);
        QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
    }

    timeline_view view;
};

TEST_F(timeline_widget, shows_everything_at_first) {
    EXPECT_LE(view.visible_from(), view.scene()->begin());
    EXPECT_GE(view.visible_to(), view.scene()->end());
    EXPECT_FALSE(view.accessibleName().isEmpty());
}

TEST_F(timeline_widget, the_wheel_zooms_round_the_cursor) {
    auto const all = seen();
    auto const middle = view.visible_from() + all / 3;
    auto const x = x_of(middle);
    QSignalSpy moved(&view, &timeline_view::visible_range_changed);
    wheel(x, 3);
    EXPECT_LT(seen(), all * 2 / 3);
    EXPECT_NEAR(x_of(middle), x, 2);
    EXPECT_EQ(moved.count(), 1);
    wheel(x, -30);
    EXPECT_EQ(seen(), all);  // no farther than everything
}

TEST_F(timeline_widget, shift_and_wheel_scroll_the_rows) {
    view.resize(1000, 120);
    QCoreApplication::processEvents();
    auto const before = seen();
    wheel(600, -1, Qt::ShiftModifier);
    EXPECT_GT(view.verticalScrollBar()->value(), 0);
    EXPECT_EQ(seen(), before);
}

TEST_F(timeline_widget, dragging_moves) {
    view.zoom(8, view.scene()->begin() + (view.scene()->end() - view.scene()->begin()) / 2);
    auto const from = view.visible_from();
    auto const length = seen();
    QSignalSpy chosen(&view, &timeline_view::selected);
    drag({700, 150}, {600, 150});
    EXPECT_GT(view.visible_from(), from);
    EXPECT_NEAR(static_cast<double>(view.visible_from() - from),
                static_cast<double>(length) * 100 / view.plot().width(), static_cast<double>(length) * 0.01);
    EXPECT_EQ(seen(), length);
    EXPECT_EQ(chosen.count(), 0);  // a drag chooses nothing
}

TEST_F(timeline_widget, keys_move_and_zoom) {
    view.zoom(4, view.scene()->begin() + 30'000'000);
    auto const from = view.visible_from();
    auto const length = seen();
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_GT(view.visible_from(), from);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_NEAR(static_cast<double>(view.visible_from()), static_cast<double>(from), 2);
    QTest::keyClick(&view, Qt::Key_Plus);
    EXPECT_LT(seen(), length);
    QTest::keyClick(&view, Qt::Key_Minus);
    QTest::keyClick(&view, Qt::Key_Minus);
    EXPECT_GT(seen(), length);
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_LE(view.visible_from(), view.scene()->begin());
}

TEST_F(timeline_widget, a_click_chooses_a_call) {
    auto const& track = view.scene()->tracks().front();
    auto const& wanted = view.scene()->at(track, 2);
    view.show_range(wanted.begin() - 100'000, wanted.begin() + 100'000);
    QSignalSpy chosen(&view, &timeline_view::selected);
    for (int y = 40; y < 200 && chosen.isEmpty(); y += 4)
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {x_of(wanted.begin()) + 1, y});
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen.first().at(0).toLongLong(), wanted.event());
    EXPECT_EQ(chosen.first().at(1).toULongLong(), wanted.object());
    EXPECT_EQ(view.selected_event(), wanted.event());
    QTest::keyClick(&view, Qt::Key_Escape);
    EXPECT_EQ(view.selected_event(), 0);
    EXPECT_EQ(chosen.last().at(0).toLongLong(), 0);
}

TEST_F(timeline_widget, keys_go_from_call_to_call_and_track_to_track) {
    QSignalSpy chosen(&view, &timeline_view::selected);
    view.select(1);
    EXPECT_EQ(chosen.count(), 0);  // only what the user chooses is told
    QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(view.selected_event(), 2);
    QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(view.selected_event(), 1);
    EXPECT_EQ(chosen.count(), 2);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(view.selected_event(), 16);  // the worker's only call
}

TEST_F(timeline_widget, selecting_brings_a_call_into_view) {
    view.show_range(view.scene()->begin(), view.scene()->begin() + 1000);
    EXPECT_TRUE(view.select(20));
    auto const place = view.scene()->find(20);
    auto const begin = view.scene()->at(view.scene()->tracks()[place->track], place->entry).begin();
    EXPECT_LE(view.visible_from(), begin);
    EXPECT_GE(view.visible_to(), begin);
    EXPECT_FALSE(view.select(4000));
    EXPECT_EQ(view.selected_event(), 20);
    QTest::keyClick(&view, Qt::Key_Return);
    EXPECT_LT(seen(), 100'000);
}

TEST_F(timeline_widget, hovering_tells_what_is_there) {
    auto const& wanted = view.scene()->at(view.scene()->tracks().front(), 0);
    view.show_range(wanted.begin() - 100'000, wanted.begin() + 100'000);
    QSignalSpy told(&view, &timeline_view::hovered);
    for (int y = 40; y < 140; y += 4) QTest::mouseMove(view.viewport(), {x_of(wanted.begin()) + 1, y});
    ASSERT_FALSE(told.isEmpty());
    QString all;
    for (auto const& each : told) all += each.at(0).toString();
    EXPECT_TRUE(all.contains("cuStreamCreate")) << all.toStdString();
}

TEST_F(timeline_widget, no_scene_and_an_empty_one_are_drawn) {
    view.set_scene(nullptr);
    gui::widgets::picture_of(view);
    EXPECT_FALSE(view.select(1));
    trace_builder t;
    view.set_scene(gui::scenes::build_timeline(store::trace::open(t.finish())));
    gui::widgets::picture_of(view);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(view.looked_at(), 0u);
}

TEST(timeline_widget_large, painting_a_million_calls_touches_few_at_every_zoom) {
    timeline_view view;
    view.resize(1000, 900);
    view.set_scene(made_up_timeline(1'000'000));
    view.show();
    // Each of 12 tracks may look at a node's worth for every pixel at worst.
    auto const most = 12u * 1000u * call_timeline::fanout;
    auto const all = view.visible_to() - view.visible_from();
    for (int step = 0; step < 30; ++step) {
        gui::widgets::picture_of(view, 1);
        ASSERT_GT(view.looked_at(), 0u);
        EXPECT_LE(view.looked_at(), most) << step;
        EXPECT_LE(view.painted(), 12u * 1000u * 4) << step;
        view.zoom(1.8, view.scene()->begin() + all / 3);
    }
}

}  // namespace
}  // namespace lastref::test
