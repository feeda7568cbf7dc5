#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/widgets/holder_chain.h"
#include "gui/widgets/holder_lanes.h"
#include "gui/widgets/picture.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;
using gui::widgets::holder_chain;
using gui::widgets::holder_lanes;

std::shared_ptr<payload_story const> many_holders() {
    trace_builder t;
    write_many_holders(t);
    return build_payload_stories(store::trace::open(t.finish()))->story(0);
}

std::string lines(holder_chain const& view) {
    return view.described().join('\n').toStdString();
}

TEST(holder_chain_widget, draws_the_chain_of_its_time) {
    auto const story = many_holders();
    holder_chain view;
    view.set_scene(story);
    EXPECT_EQ(lines(view),
              "payload 0x7f0000000000 (16 MiB)\n"
              "graph 0x90 (gone at 0.051 s) → payload 0x7f0000000000\n"
              "graph 0x92 (gone at 0.009 s) → graph 0x90\n"
              "executable graph 0x93 (holds 1 reference) → graph 0x92");
    view.show_time(story->holders[0].references.front().at);
    EXPECT_EQ(lines(view),
              "payload 0x7f0000000000 (16 MiB)\n"
              "the program (holds 2 references) → payload 0x7f0000000000");
    EXPECT_FALSE(view.accessibleDescription().isEmpty());
}

TEST(holder_chain_widget, stands_upright_where_it_would_need_scrolling) {
    holder_chain view;
    view.set_scene(many_holders());
    auto const lying = view.minimumSizeHint();
    view.set_room({lying.width() - 1, 600});
    auto const upright = view.minimumSizeHint();
    EXPECT_LT(upright.width(), lying.width());
    EXPECT_GT(upright.height(), lying.height());
    gui::widgets::picture_of(view);
    view.set_room(lying);
    EXPECT_EQ(view.minimumSizeHint(), lying);
    view.set_room({40, 600});
    EXPECT_EQ(view.minimumSizeHint(), lying) << "where it does not fit either way it lies";
}

TEST(holder_chain_widget, boxes_do_not_overlap_and_are_chosen) {
    holder_chain view;
    view.set_scene(many_holders());
    view.resize(view.minimumSizeHint());
    QSignalSpy chosen(&view, &holder_chain::holder_chosen);
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0].at(0).toLongLong(), 4);  // the graph's creation
    QTest::mouseClick(&view, Qt::LeftButton, {}, {30, 30});
    ASSERT_EQ(chosen.count(), 2);
    EXPECT_EQ(chosen[1].at(0).toLongLong(), 3);  // the payload's
    view.set_scene(nullptr);
    gui::widgets::picture_of(view);
    QTest::keyClick(&view, Qt::Key_Return);
    EXPECT_EQ(chosen.count(), 2);
}

TEST(holder_lanes_widget, keys_go_from_change_to_change) {
    auto const story = many_holders();
    holder_lanes view;
    view.resize(800, 300);
    view.set_scene(story);
    EXPECT_EQ(view.chosen_time(), story->end);
    QSignalSpy chosen(&view, &holder_lanes::time_chosen);
    QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_LT(view.chosen_time(), story->end);
    for (int i = 0; i < 30; ++i) QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(view.chosen_time(), story->created_at);
    EXPECT_TRUE(view.accessibleDescription().contains("2 references")) << view.accessibleDescription().toStdString();
}

TEST(holder_lanes_widget, clicking_chooses_a_time_and_hovering_tells_the_count) {
    auto const story = many_holders();
    holder_lanes view;
    view.resize(800, 300);
    view.set_scene(story);
    view.show();
    QSignalSpy chosen(&view, &holder_lanes::time_chosen);
    QSignalSpy told(&view, &holder_lanes::hovered);
    auto const x = static_cast<int>(view.scale().x(story->created_at + 2'000'000));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {x, view.plot().top() + 10});
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_NEAR(static_cast<double>(chosen[0].at(0).toLongLong()), static_cast<double>(story->created_at) + 2e6, 2e5);
    QTest::mouseMove(view.viewport(), {x, view.plot().top() + 30});
    ASSERT_FALSE(told.isEmpty());
    EXPECT_TRUE(told.last().at(0).toString().contains("the program holds"))
        << told.last().at(0).toString().toStdString();
    view.set_scene(nullptr);
    gui::widgets::picture_of(view);
}

}  // namespace
}  // namespace lastref::test
