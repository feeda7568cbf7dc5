#include "gui/widgets/chart_view.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/widgets/histogram_view.h"
#include "gui/widgets/picture.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;
using gui::widgets::chart_view;
using gui::widgets::histogram_view;

std::shared_ptr<chart const> chart_of(int steps) {
    auto out = std::make_shared<chart>();
    out->title = "Outstanding payloads";
    out->end = 10'000'000'000;
    out->lines.emplace_back("payloads");
    for (int i = 0; i < steps; ++i)
        out->lines[0].add(out->end / steps * i, static_cast<std::uint64_t>(i % 2 == 0 ? i : i / 2));
    out->lines[0].finish();
    out->marks.push_back({{}, 9'000'000'000, store::phase_step::exit_begin, "main returned"});
    return out;
}

TEST(chart_widget, hovering_and_clicking_tell_time_and_value) {
    chart_view view;
    view.resize(800, 300);
    view.set_scene(chart_of(11));
    view.show();
    EXPECT_EQ(view.accessibleName(), "Outstanding payloads");
    QSignalSpy told(&view, &chart_view::hovered);
    QSignalSpy chosen(&view, &chart_view::time_chosen);
    auto const x = static_cast<int>(view.scale().x(4'000'000'000));
    QTest::mouseMove(view.viewport(), {x, 150});
    ASSERT_FALSE(told.isEmpty());
    EXPECT_TRUE(told.last().at(0).toString().contains("payloads: ")) << told.last().at(0).toString().toStdString();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {x, 150});
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_NEAR(static_cast<double>(chosen[0].at(0).toLongLong()), 4e9, 2e7);
    EXPECT_EQ(*view.chosen_time(), chosen[0].at(0).toLongLong());
}

TEST(chart_widget, keys_go_from_change_to_change) {
    chart_view view;
    view.set_scene(chart_of(10));
    view.choose_time(2'500'000'000);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(*view.chosen_time(), 3'000'000'000);
    QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(*view.chosen_time(), 2'000'000'000);
    for (int i = 0; i < 20; ++i) QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(*view.chosen_time(), 0);
    for (int i = 0; i < 20; ++i) QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(*view.chosen_time(), 9'000'000'000);
    auto const seen = view.visible_to() - view.visible_from();
    QTest::keyClick(&view, Qt::Key_Plus);
    EXPECT_LT(view.visible_to() - view.visible_from(), seen);
}

TEST(chart_widget, painting_looks_at_as_much_as_it_is_wide) {
    chart_view view;
    view.resize(1000, 300);
    view.set_scene(chart_of(200'000));
    gui::widgets::picture_of(view, 1);
    EXPECT_GT(view.looked_at(), 500u);
    EXPECT_LE(view.looked_at(), 1000u * 130);
    view.set_scene(std::shared_ptr<chart const>());
    gui::widgets::picture_of(view, 1);
    EXPECT_EQ(view.looked_at(), 0u);
}

TEST(histogram_widget, bars_are_told_and_chosen) {
    histogram_view view;
    view.resize(700, 300);
    std::vector<store::time_ns> lengths(50, 1'500'000);
    lengths.push_back(90'000'000);
    view.set_scene(std::make_shared<histogram const>(histogram_of("Clean-up", lengths)));
    EXPECT_EQ(view.accessibleName(), "Clean-up");
    EXPECT_TRUE(view.accessibleDescription().contains("51"));
    QSignalSpy chosen(&view, &histogram_view::bin_chosen);
    QTest::keyClick(&view, Qt::Key_Right);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0].at(0).toLongLong(), 1'000'000);
    EXPECT_TRUE(view.text_of(0).contains("50"));
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(*view.chosen_bin(), 0u);
    view.set_scene(std::make_shared<histogram const>(histogram_of("Clean-up", {})));
    gui::widgets::picture_of(view);
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_FALSE(view.chosen_bin());
}

}  // namespace
}  // namespace lastref::test
