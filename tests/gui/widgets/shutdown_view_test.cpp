#include "gui/widgets/shutdown_view.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/widgets/picture.h"
#include "tests/gui/scenes/samples.h"

namespace lastref::test {
namespace {

using namespace gui::scenes;
using gui::widgets::shutdown_view;

std::shared_ptr<shutdown const> small_shutdown() {
    trace_builder t;
    write_small_program(t);
    return build_shutdown(store::trace::open(t.finish()));
}

TEST(shutdown_widget, entries_lie_apart_at_every_width) {
    shutdown_view view;
    view.set_scene(small_shutdown());
    ASSERT_GT(view.entries(), 3u);
    for (auto const width : {view.minimumSizeHint().width(), 500, 1600, 3840}) {
        view.resize(width, 100);
        view.resize(width, view.minimumSizeHint().height());
        for (std::size_t i = 0; i < view.entries(); ++i) {
            EXPECT_TRUE(view.rect().contains(view.place_of(i))) << i << " at " << width;
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(view.place_of(i).intersects(view.place_of(j))) << i << " " << j;
        }
    }
}

TEST(shutdown_widget, an_entry_is_chosen_by_mouse_and_keys) {
    shutdown_view view;
    view.set_scene(small_shutdown());
    view.resize(view.minimumSizeHint());
    QSignalSpy chosen(&view, &shutdown_view::call_chosen);
    std::size_t failed = 0;
    while (failed < view.entries() && !view.described(failed).contains("cuMemFree (CUDA_ERROR_DEINITIALIZED")) ++failed;
    ASSERT_LT(failed, view.entries());
    EXPECT_TRUE(view.described(failed).startsWith("After the driver shut down, Failed"))
        << view.described(failed).toStdString();
    QTest::mouseClick(&view, Qt::LeftButton, {}, view.place_of(failed).center());
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0].at(0).toLongLong(), 22);
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 2);
    EXPECT_EQ(chosen[1].at(0).toLongLong(), 21);  // what the exit handler freed
    EXPECT_TRUE(view.accessibleDescription().startsWith("Exit handlers, Released"));
}

TEST(shutdown_widget, nothing_to_show) {
    shutdown_view view;
    gui::widgets::picture_of(view);
    view.set_scene(std::make_shared<shutdown const>());
    gui::widgets::picture_of(view);
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.entries(), 0u);
}

}  // namespace
}  // namespace lastref::test
