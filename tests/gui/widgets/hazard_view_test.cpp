#include "gui/widgets/hazard_view.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QSplitter>
#include <QTest>

#include "analyzer/detectors/analysis.h"
#include "gui/widgets/picture.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;
using gui::widgets::hazard_lanes;
using gui::widgets::hazard_view;

std::shared_ptr<hazard const> race() {
    trace_builder t;
    write_two_streams(t, false, 30);
    auto const trace = store::trace::open(t.finish());
    for (auto const& found : detectors::analyse(trace).found)
        if (found.rule == findings::rule::unordered_free) return build_hazard(trace, request_of(found));
    return nullptr;
}

TEST(hazard_widget, the_explanation_stands_beside_the_lanes) {
    auto const scene = race();
    hazard_view view;
    view.set_scene(scene);
    auto const words = view.explanation();
    for (auto const& sentence : scene->what) EXPECT_TRUE(words.contains(QString::fromStdString(sentence))) << sentence;
    EXPECT_TRUE(words.contains(QString::fromStdString(scene->advice)));
    view.set_scene(nullptr);
    EXPECT_TRUE(view.explanation().isEmpty());
    gui::widgets::picture_of(view);
}

TEST(hazard_widget, the_explanation_goes_below_where_lanes_need_the_width) {
    hazard_view view;
    view.set_scene(race());
    auto const* const split = view.findChild<QSplitter*>();
    auto const needed = view.lanes().minimumSizeHint().width();
    view.show();
    view.resize(needed * 2, 500);
    EXPECT_EQ(split->orientation(), Qt::Horizontal);
    view.resize(needed + 40, 500);
    EXPECT_EQ(split->orientation(), Qt::Vertical);
    EXPECT_GE(split->sizes().front(), view.lanes().minimumSizeHint().height());
}

TEST(hazard_widget, boxes_lie_apart_and_inside) {
    auto const scene = race();
    hazard_lanes view;
    view.set_scene(scene);
    view.resize(view.sizeHint());
    for (std::size_t i = 0; i < scene->points.size(); ++i) {
        EXPECT_TRUE(view.rect().contains(view.place_of(i))) << i;
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_FALSE(view.place_of(i).intersects(view.place_of(j))) << i << " " << j;
    }
}

TEST(hazard_widget, calls_are_chosen_by_mouse_and_keys) {
    auto const scene = race();
    hazard_view view;
    view.set_scene(scene);
    QSignalSpy chosen(&view, &hazard_view::call_chosen);
    auto& lanes = view.lanes();
    lanes.resize(lanes.sizeHint());
    QTest::mouseClick(&lanes, Qt::LeftButton, {}, lanes.place_of(0).center());
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0].at(0).toLongLong(), scene->points[0].event.value);
    for (int i = 0; i < 100; ++i) QTest::keyClick(&lanes, Qt::Key_Right);
    EXPECT_TRUE(lanes.accessibleDescription().startsWith("freed: cuMemFreeAsync"))
        << lanes.accessibleDescription().toStdString();
    QTest::keyClick(&lanes, Qt::Key_Return);
    EXPECT_EQ(chosen.last().at(0).toLongLong(), scene->points.back().event.value);
}

}  // namespace
}  // namespace lastref::test
