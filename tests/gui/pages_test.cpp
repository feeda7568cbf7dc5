// What pages lead to: objects, filters, files, and what is made of a trace when somebody looks.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include "gui/models/export.h"
#include "gui/views/call_details.h"
#include "gui/views/call_table.h"
#include "gui/views/calls_page.h"
#include "gui/views/deferred_page.h"
#include "gui/views/filter_menu.h"
#include "gui/views/flame_panel.h"
#include "gui/views/hazards_page.h"
#include "gui/views/memory_page.h"
#include "gui/views/object_page.h"
#include "gui/views/payload_view.h"
#include "gui/views/rich_text.h"
#include "gui/views/table_view.h"
#include "gui/views/timeline_page.h"
#include "gui/widgets/picture.h"
#include "gui/widgets/timeline_view.h"
#include "tests/gui/open_window.h"

namespace lastref::gui {
namespace {

TEST_F(open_window, an_object_has_a_page_of_its_own) {
    auto& page = page_as<object_page>(page_id::object);
    Q_EMIT window.page_of(page_id::findings)->object_asked(1, 0x70);  // as a link asks
    EXPECT_EQ(window.current_page(), &page);
    EXPECT_EQ(page.lives(), 1);
    ASSERT_TRUE(test::wait_for([&] { return !page.busy() && page.rows() == 2; })) << page.rows();
    auto const text = page.details();
    EXPECT_TRUE(text.contains("user object 0x70")) << text.toStdString();
    EXPECT_TRUE(text.contains("Made by cuUserObjectCreate")) << text.toStdString();
    EXPECT_TRUE(text.contains("alive at the end")) << text.toStdString();
    EXPECT_TRUE(text.contains("user-object-leak")) << "the finding that names it: " << text.toStdString();
    EXPECT_TRUE(page.findChild<payload_view*>()->isVisible());

    Q_EMIT page.object_asked(1, 0x9000);
    EXPECT_EQ(page.handle(), 0x9000u);
    ASSERT_TRUE(test::wait_for([&] { return !page.busy() && page.details().contains("released by"); }))
        << page.details().toStdString();
    EXPECT_EQ(page.rows(), 2);
    EXPECT_FALSE(page.findChild<payload_view*>()->isVisible());
    window.go_back();
    EXPECT_EQ(page.handle(), 0x70u) << "back leads to the object before";
    window.go_back();
    EXPECT_NE(window.current_page(), &page);
}

TEST_F(open_window, a_handle_can_be_typed) {
    auto& page = page_as<object_page>(page_id::object);
    window.show_page(page_id::object);
    EXPECT_TRUE(page.details().contains("Choose an object"));
    auto* const field = page.findChild<QLineEdit*>();
    field->setText(QStringLiteral("0x20000"));
    QTest::keyClick(field, Qt::Key_Return);
    EXPECT_EQ(page.handle(), 0x20000u);
    EXPECT_TRUE(test::wait_for([&] { return page.details().contains("stream-ordered memory"); }))
        << page.details().toStdString();
    field->setText(QStringLiteral("no handle"));
    QTest::keyClick(field, Qt::Key_Return);
    EXPECT_EQ(page.handle(), 0x20000u);
}

TEST_F(open_window, handles_in_details_are_links) {
    auto& timeline = page_as<timeline_page>(page_id::timeline);
    window.show_page(page_id::timeline);
    timeline.choose_event(store::event_id{7});
    auto* const text = timeline.findChild<rich_text*>();
    ASSERT_TRUE(test::wait_for([&] { return text->toHtml().contains("object:1:70"); })) << text->toHtml().toStdString();
    Q_EMIT text->anchorClicked(QUrl(QStringLiteral("object:1:70")));
    EXPECT_EQ(window.current_page()->id(), page_id::object);
    EXPECT_EQ(page_as<object_page>(page_id::object).handle(), 0x70u);
}

TEST_F(open_window, what_a_trace_offers_can_be_filtered_by) {
    filter_menu menu(&window);
    EXPECT_FALSE(menu.isEnabled()) << "nothing to filter yet";
    menu.show_trace(window.work().trace());
    EXPECT_TRUE(menu.isEnabled());
    menu.fill();
    QObject::connect(&menu, &filter_menu::chosen, &window, &main_window::add_filter);
    QAction* worker = nullptr;
    for (auto* const below : menu.findChildren<QMenu*>())
        for (auto* const action : below->actions())
            if (action->text().contains("worker")) worker = action;
    ASSERT_NE(worker, nullptr);
    worker->trigger();
    ASSERT_TRUE(window.filters().of(filter_kind::thread));
    EXPECT_EQ(window.filters().of(filter_kind::thread)->value, 2);
    EXPECT_FALSE(offered_filters(*window.work().trace(), filter_kind::rule).empty());
    EXPECT_EQ(filter_menu::time_in("0.5 - 1.25 s")->last, 1'250'000'000);
    EXPECT_FALSE(filter_menu::time_in("2 - 1"));
    EXPECT_FALSE(filter_menu::time_in("soon"));
}

TEST_F(open_window, a_filter_leaves_out_tracks_of_the_timeline) {
    auto& timeline = page_as<timeline_page>(page_id::timeline);
    window.show_page(page_id::timeline);
    test::run_events(20);
    auto const painted = [&] {
        timeline.view().grab();
        return timeline.view().painted();
    };
    auto const all = painted();
    window.add_filter({filter_kind::thread, 2, 0, "worker"});
    auto const of_worker = painted();
    EXPECT_LT(of_worker, all);
    EXPECT_GT(of_worker, 0u);
    window.add_filter({filter_kind::process, 77, 0, "none"});
    EXPECT_EQ(painted(), 0u);
}

TEST_F(open_window, hazards_can_be_filtered_by_thread_and_rule) {
    auto& page = page_as<hazards_page>(page_id::hazards);
    window.add_filter({filter_kind::rule, static_cast<std::int64_t>(findings::rule::ptds_cross_thread_free), 0, "r"});
    EXPECT_EQ(page.rows(), 1);
    window.add_filter({filter_kind::thread, 99, 0, "t"});
    EXPECT_EQ(page.rows(), 0);
    EXPECT_TRUE(page.view().nothing().contains("Filters"));
}

TEST_F(open_window, the_reference_queue_stands_beside_the_programs_clean_ups) {
    test::trace_builder other;
    auto main = other.thread("main");
    main.use(other.context());
    main.call("cuMemAlloc_v2", {.object = 0x5000, .size = 4096, .stack = {"make", "main"}});
    main.call("cuUserObjectCreate",
              {.object = 0x70, .other = 0x5000, .size = 1, .extra = 0x5555, .stack = {"make", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x70, .size = 1, .stack = {"drop", "main"}});
    auto driver = other.thread("driver");
    driver.call("callback:user_object", {.object = 0x70});
    main.call("cuMemFree_v2", {.object = 0x5000, .stack = {"drain", "main"}});
    other.ends("clean");
    open(other.finish());
    auto& page = page_as<deferred_page>(page_id::deferred);
    window.show_page(page_id::deferred);
    EXPECT_TRUE(test::wait_for([&] { return page.rows() >= 8; })) << page.rows();
    EXPECT_TRUE(model_text(*page.exported()).contains("callbacks | 1 | 1"))
        << model_text(*page.exported()).toStdString();
    EXPECT_TRUE(page.text().contains("One payload's destructor ran")) << page.text().toStdString();
}

TEST_F(open_window, allocations_are_a_tree_as_well) {
    auto& memory = page_as<memory_page>(page_id::memory);
    window.show_page(page_id::memory);
    memory.flame().show_tree(true);
    ASSERT_TRUE(test::wait_for([&] { return memory.rows() > 0; }));
    auto const text = model_text(*memory.exported());
    EXPECT_TRUE(text.startsWith("Function | Bytes | Share | By itself | Allocations")) << text.toStdString();
    EXPECT_TRUE(text.contains("| 3 MiB | 92.2 % |")) << text.toStdString();
}

TEST_F(open_window, long_tables_are_written_bit_by_bit_and_can_be_given_up) {
    example.grow(30'000);
    window.work().reload();
    ASSERT_TRUE(test::wait_for([&] { return window.work().trace()->events > 30'000; }));
    window.show_page(page_id::calls);
    QTemporaryDir const folder;
    auto const path = folder.filePath("calls.csv");
    ASSERT_TRUE(window.export_table(path));
    EXPECT_FALSE(QFile::exists(path)) << "thirty thousand rows take longer than a frame";
    for (auto* const button : window.findChildren<QToolButton*>())
        if (button->text() == "Cancel") button->click();
    test::run_events(50);
    EXPECT_FALSE(QFile::exists(path));
    ASSERT_TRUE(window.export_table(path));
    ASSERT_TRUE(test::wait_for([&] { return QFile::exists(path); }));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(file.readAll().count("\r\n"), window.current_page()->rows() + 1);
}

TEST_F(open_window, pictures_are_exported) {
    QTemporaryDir const folder;
    for (auto const id : {page_id::timeline, page_id::memory, page_id::hazards}) {
        window.show_page(id);
        test::run_events(50);
        auto& picture = window.page_of(id)->picture();
        EXPECT_TRUE(widgets::save_picture(picture, folder.filePath("p.png")).isEmpty());
        EXPECT_FALSE(QImage(folder.filePath("p.png")).isNull());
        if (!widgets::can_save_svg()) continue;
        EXPECT_TRUE(widgets::save_picture(picture, folder.filePath("p.svg")).isEmpty());
        QFile file(folder.filePath("p.svg"));
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        auto const text = file.readAll();
        EXPECT_TRUE(text.contains("<svg") && text.contains("</svg>") && text.contains("<text"));
    }
    EXPECT_FALSE(widgets::save_picture(window.page_of(page_id::timeline)->picture(), "/nowhere/p.svg").isEmpty());
}

}  // namespace
}  // namespace lastref::gui
