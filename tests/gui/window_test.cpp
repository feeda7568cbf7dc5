// The window, driven as a user drives it.
#include "gui/views/main_window.h"

#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>

#include "gui/views/call_details.h"
#include "gui/views/call_table.h"
#include "gui/views/calls_page.h"
#include "gui/views/chart_group.h"
#include "gui/views/compare_page.h"
#include "gui/views/editor.h"
#include "gui/views/finding_details.h"
#include "gui/views/findings_page.h"
#include "gui/views/flame_panel.h"
#include "gui/views/hazards_page.h"
#include "gui/views/history.h"
#include "gui/views/memory_page.h"
#include "gui/views/outstanding_page.h"
#include "gui/views/overview_page.h"
#include "gui/views/payload_view.h"
#include "gui/views/record_dialog.h"
#include "gui/views/screenshots.h"
#include "gui/views/shutdown_page.h"
#include "gui/views/table_view.h"
#include "gui/views/timeline_page.h"
#include "gui/widgets/hazard_view.h"
#include "gui/widgets/shutdown_view.h"
#include "gui/widgets/timeline_view.h"
#include "tests/gui/open_window.h"

namespace lastref::gui {
namespace {

TEST_F(open_window, every_page_shows_rows) {
    for (auto* const page : window.pages()) {
        window.show_page(page->id());
        test::run_events(20);
        EXPECT_EQ(window.current_page(), page);
        // These need a second trace, an object, and a destructor that ran.
        auto const id = page->id();
        if (id == page_id::compare || id == page_id::object || id == page_id::deferred) continue;
        EXPECT_TRUE(test::wait_for([page] { return !page->exported() || page->rows() > 0; }))
            << page->title().toStdString();
    }
}

TEST_F(open_window, overview_leads_to_the_finding) {
    auto& overview = page_as<overview_page>(page_id::overview);
    EXPECT_EQ(window.current_page(), &overview);
    EXPECT_TRUE(overview.headline().contains("wrong")) << overview.headline().toStdString();
    ASSERT_GT(overview.lines().count(), 0);
    auto const title = overview.lines().item(0)->text();
    Q_EMIT overview.lines().itemActivated(overview.lines().item(0));
    EXPECT_EQ(window.current_page()->id(), page_id::findings);
    EXPECT_TRUE(page_as<findings_page>(page_id::findings).details().text().contains(title));
}

TEST_F(open_window, tiles_lead_to_pages) {
    for (auto* const tile : window.page_of(page_id::overview)->findChildren<QPushButton*>())
        if (tile->accessibleName().contains("calls")) tile->click();
    EXPECT_EQ(window.current_page()->id(), page_id::calls);
}

TEST_F(open_window, keys_lead_to_pages) {
    press(Qt::Key_2, Qt::ControlModifier);
    EXPECT_EQ(window.current_page(), window.pages()[1]);
    press(Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window.current_page(), window.pages()[3]);
    press(Qt::Key_9, Qt::ControlModifier);
    press(Qt::Key_F, Qt::ControlModifier);
    EXPECT_NE(dynamic_cast<QLineEdit*>(QApplication::focusWidget()), nullptr);
}

TEST_F(open_window, back_and_forward_remember_pages_and_filters) {
    window.show_page(page_id::findings);
    window.add_filter({filter_kind::thread, 2, 0, "thread"});
    window.show_page(page_id::calls);
    window.go_back();
    EXPECT_EQ(window.current_page()->id(), page_id::findings);
    EXPECT_FALSE(window.filters().empty());
    window.go_back();
    EXPECT_TRUE(window.filters().empty());
    window.go_forward();
    window.go_forward();
    EXPECT_EQ(window.current_page()->id(), page_id::calls);
    window.go_forward();
    EXPECT_EQ(window.current_page()->id(), page_id::calls);
}

TEST_F(open_window, filters_apply_to_every_page_and_chips_remove_them) {
    auto& calls = page_as<calls_page>(page_id::calls);
    auto const all = calls.rows();
    window.add_filter({filter_kind::thread, 2, 0, "thread worker"});
    ASSERT_TRUE(test::wait_for([&] { return !calls.searching() && calls.rows() == 4; })) << calls.rows();
    EXPECT_EQ(page_as<outstanding_page>(page_id::outstanding).rows(), 1);
    for (auto* const chip : window.findChildren<QToolButton*>())
        if (chip->accessibleName() == "Remove the filter thread worker") chip->click();
    EXPECT_TRUE(window.filters().empty());
    ASSERT_TRUE(test::wait_for([&] { return calls.rows() == all; }));
}

TEST_F(open_window, search_finds_in_every_page) {
    window.set_search(QStringLiteral("cuMemFree"));
    auto& calls = page_as<calls_page>(page_id::calls);
    ASSERT_TRUE(test::wait_for([&] { return !calls.searching() && calls.rows() == 3; }));
    EXPECT_EQ(page_as<findings_page>(page_id::findings).rows(), 1);  // its title names the call
    window.set_search({});
    EXPECT_TRUE(test::wait_for([&] { return calls.rows() > 3; }));
}

TEST_F(open_window, details_can_be_taken_along) {
    auto& page = page_as<findings_page>(page_id::findings);
    page.choose_finding(0);
    window.show_page(page_id::findings);
    auto const& f = window.work().trace()->findings[0];
    for (auto const& [name, text] : {std::pair{"Copy suppression", f.suppression},
                                     {"Copy as Markdown", f.markdown},
                                     {"Copy command line", f.command_line}}) {
        for (auto* const button : page.details().findChildren<QPushButton*>())
            if (button->text() == QLatin1String(name)) button->click();
        EXPECT_EQ(QApplication::clipboard()->text().toStdString(), text);
        EXPECT_FALSE(text.empty());
    }
    EXPECT_TRUE(f.suppression.find(std::string(findings::info(f.rule).name) + ":") != std::string::npos)
        << f.suppression;
    EXPECT_EQ(f.command_line.rfind("lastref report ", 0), 0u);
}

TEST_F(open_window, an_outstanding_payload_says_who_holds_it) {
    auto& page = page_as<outstanding_page>(page_id::outstanding);
    window.show_page(page_id::outstanding);
    auto const& rows = window.work().trace()->outstanding;
    auto const payload =
        std::find_if(rows.begin(), rows.end(), [](auto const& o) { return o.kind == model::object_kind::user_object; });
    ASSERT_NE(payload, rows.end());
    ASSERT_EQ(payload->holders.size(), 1u);
    EXPECT_EQ(payload->holders[0].kind, holder_kind::graph_exec);
    window.set_search(QStringLiteral("user object"));
    auto const* const model = page.view().model();
    page.view().setCurrentIndex(model->index(0, 0, model->index(0, 0)));
    EXPECT_TRUE(test::wait_for([&] {
        return page.details().contains("executable graph 0x80: 1 reference") && page.details().contains("demo+");
    })) << page.details().toStdString();
}

TEST_F(open_window, a_link_shows_the_call) {
    auto& calls = page_as<calls_page>(page_id::calls);
    Q_EMIT window.page_of(page_id::findings)->event_asked(3);
    EXPECT_EQ(window.current_page(), &calls);
    EXPECT_EQ(calls.view().currentIndex().row(), 2);
}

TEST_F(open_window, the_timeline_marks_the_call_and_tells_of_it) {
    auto& timeline = page_as<timeline_page>(page_id::timeline);
    Q_EMIT window.page_of(page_id::findings)->event_asked(7);
    window.show_page(page_id::timeline);
    EXPECT_EQ(timeline.view().selected_event(), 7);
    EXPECT_TRUE(test::wait_for([&] { return timeline.details().text().contains("cuUserObjectCreate"); }));
    window.work().reload();
    test::run_events(200);
    EXPECT_EQ(timeline.view().selected_event(), 7) << "it stays chosen when the trace is read again";
}

TEST_F(open_window, what_is_seen_of_the_timeline_becomes_a_filter) {
    auto& timeline = page_as<timeline_page>(page_id::timeline);
    window.show_page(page_id::timeline);
    timeline.view().show_range(900'000, 2'100'000);
    for (auto* const button : timeline.findChildren<QPushButton*>())
        if (button->text().contains("seen")) button->click();
    ASSERT_TRUE(window.filters().of(filter_kind::time));
    auto& calls = page_as<calls_page>(page_id::calls);
    EXPECT_TRUE(test::wait_for([&] { return !calls.searching() && calls.rows() == 2; })) << calls.rows();
}

TEST_F(open_window, a_hazard_is_drawn_with_the_order_that_is_missing) {
    auto& page = page_as<hazards_page>(page_id::hazards);
    window.show_page(page_id::hazards);
    ASSERT_EQ(page.rows(), 1);
    EXPECT_TRUE(test::wait_for([&] { return page.lanes().isVisible(); }));
    EXPECT_TRUE(page.lanes().explanation().contains("default stream")) << page.lanes().explanation().toStdString();
    Q_EMIT page.lanes().call_chosen(15);
    EXPECT_EQ(window.current_page()->id(), page_id::calls);
}

TEST_F(open_window, a_payload_is_drawn_with_its_holders) {
    auto& page = page_as<outstanding_page>(page_id::outstanding);
    window.show_page(page_id::outstanding);
    window.set_search(QStringLiteral("user object"));
    auto* const story = page.findChild<payload_view*>();
    ASSERT_NE(story, nullptr);
    EXPECT_FALSE(story->isVisible());
    auto const* const model = page.view().model();
    page.view().setCurrentIndex(model->index(0, 0, model->index(0, 0)));
    EXPECT_TRUE(story->isVisible());
    EXPECT_TRUE(story->verdict().contains("executable graph 0x80")) << story->verdict().toStdString();
}

TEST_F(open_window, memory_by_call_stack_at_the_peak_and_at_a_chosen_time) {
    auto& memory = page_as<memory_page>(page_id::memory);
    window.show_page(page_id::memory);
    ASSERT_TRUE(test::wait_for([&] { return memory.flame().text().startsWith("3.3 MiB in 5 allocations"); }))
        << memory.flame().text().toStdString();
    Q_EMIT memory.charts().charts()[0]->time_chosen(2'500'000);
    ASSERT_TRUE(test::wait_for([&] { return memory.flame().text().startsWith("2 MiB in 2 allocations"); }))
        << memory.flame().text().toStdString();
}

TEST_F(open_window, shutdown_tells_what_was_left_and_what_on_purpose) {
    auto& page = page_as<shutdown_page>(page_id::shutdown);
    window.show_page(page_id::shutdown);
    auto const& first = window.work().trace()->shutdown->processes.front();
    EXPECT_FALSE(first.left.empty());
    EXPECT_TRUE(first.intended.empty());
    EXPECT_GT(page.view().entries(), 0u);
    auto const file = test::file_with("meant.txt", "allocation-leak:demo\n");
    window.work().use_suppressions(QString::fromStdString(file.string()));
    EXPECT_TRUE(test::wait_for([&] { return !window.work().trace()->shutdown->processes.front().intended.empty(); }));
}

TEST_F(open_window, charts_of_a_page_show_the_same_time) {
    auto& memory = page_as<memory_page>(page_id::memory);
    window.show_page(page_id::memory);
    auto const& charts = memory.charts().charts();
    ASSERT_EQ(charts.size(), 2u);
    charts[0]->show_range(2'000'000, 5'000'000);
    EXPECT_EQ(charts[1]->visible_from(), 2'000'000);
    charts[1]->show_range(3'000'000, 4'000'000);
    EXPECT_EQ(charts[0]->visible_to(), 4'000'000);
}

TEST_F(open_window, calls_sort_by_a_click_on_the_header) {
    auto& calls = page_as<calls_page>(page_id::calls);
    window.show_page(page_id::calls);
    auto const size = static_cast<int>(call_column::size);
    auto const click = [&] { Q_EMIT calls.view().horizontalHeader()->sectionClicked(size); };
    click();
    click();
    ASSERT_TRUE(test::wait_for(
        [&] { return !calls.searching() && calls.view().model()->index(0, size).data().toString() == "1,048,576"; }));
}

TEST_F(open_window, tables_are_exported) {
    QTemporaryDir const folder;
    for (auto* const page : window.pages()) {
        window.show_page(page->id());
        if (!page->exported() || page->rows() == 0) continue;
        auto const path = folder.filePath(page->title() + ".csv");
        ASSERT_TRUE(window.export_table(path));
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        EXPECT_GT(file.readAll().count("\r\n"), page->rows());
    }
    EXPECT_FALSE(window.export_table(QStringLiteral("/nowhere/t.csv")));
}

TEST_F(open_window, wrong_files_give_a_message_and_lose_nothing) {
    auto const shown = window.work().trace();
    for (auto const& path : {std::filesystem::path("/nowhere/t.lastref"), test::file_with("e", ""),
                             test::file_with("x", std::string(4096, 'x'))}) {
        window.open(QString::fromStdString(path.string()));
        ASSERT_TRUE(test::wait_for([&] { return window.message().contains(QString::fromStdString(path.string())); }))
            << path;
        EXPECT_EQ(window.work().trace(), shown);
    }
    open(example.path());
    test::run_events(50);
    window.work().reload();
    EXPECT_TRUE(test::wait_for([&] { return window.message().isEmpty(); }));
}

TEST_F(open_window, a_file_can_be_dropped) {
    test::example_trace const other;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QString::fromStdString(other.path().string()))});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &drop);
    EXPECT_TRUE(test::wait_for([&] { return window.work().trace()->path == other.path(); }));
}

TEST_F(open_window, what_is_chosen_stays_chosen_while_it_grows) {
    auto& page = page_as<findings_page>(page_id::findings);
    page.choose_finding(1);
    auto const before = page.details().text();
    example.grow(100);
    auto const events = window.work().trace()->events;
    window.work().reload();
    ASSERT_TRUE(test::wait_for([&] { return window.work().trace()->events > events; }));
    EXPECT_EQ(page.details().text(), before);
}

TEST_F(open_window, another_trace_beside_it) {
    auto& page = page_as<compare_page>(page_id::compare);
    test::trace_builder other;
    auto main = other.thread("main");
    main.use(other.context());
    main.call("cuEventCreate", {.object = 0x50, .stack = {"mark", "main"}});
    other.ends("clean");
    page.compare_with(QString::fromStdString(other.finish().string()));
    EXPECT_TRUE(test::wait_for([&] { return page.rows() > 0; }));
}

TEST_F(open_window, from_small_to_large) {
    for (QSize const size : {QSize(800, 600), QSize(3840, 2160), QSize(640, 400), QSize(1280, 800)}) {
        window.resize(size);
        for (auto* const page : window.pages()) {
            window.show_page(page->id());
            test::run_events(5);
            EXPECT_FALSE(window.grab().isNull());
        }
        EXPECT_EQ(window.size(), size) << "a page needs more room than " << size.width();
    }
}

TEST_F(open_window, everything_has_a_name_for_screen_readers) {
    for (auto* const page : window.pages()) {
        for (auto* const view : page->findChildren<QAbstractItemView*>()) {
            bool const is_part = view->inherits("QComboBoxListView") || view->inherits("QHeaderView");
            EXPECT_TRUE(is_part || !view->accessibleName().isEmpty()) << page->title().toStdString();
        }
        for (auto* const text : page->findChildren<QTextBrowser*>()) EXPECT_FALSE(text->accessibleName().isEmpty());
        for (auto* const button : page->findChildren<QPushButton*>())
            EXPECT_FALSE(button->accessibleName().isEmpty() && button->text().isEmpty());
        for (auto* const box : page->findChildren<QComboBox*>()) EXPECT_FALSE(box->accessibleName().isEmpty());
    }
}

TEST_F(open_window, follows_another_palette) {
    auto dark = QApplication::palette();
    auto const light = dark;
    dark.setColor(QPalette::Base, Qt::black);
    dark.setColor(QPalette::Text, Qt::white);
    QApplication::setPalette(dark);
    test::run_events(20);
    EXPECT_FALSE(window.grab().isNull());
    QApplication::setPalette(light);
}

TEST_F(open_window, pictures_of_every_page) {
    QTemporaryDir const folder;
    EXPECT_EQ(write_screenshots(window, folder.filePath("pictures")), static_cast<int>(window.pages().size()));
}

TEST(cancelling, leaves_the_window_as_it_was) {
    std::atomic<bool> running = false;
    main_window window(nullptr, [&](load_request const&, load_watch const& watch) -> trace_pointer {
        running = true;
        while (watch(load_stage::reading, 0.3)) std::this_thread::yield();
        throw load_cancelled();
    });
    window.show();
    window.open(QStringLiteral("slow"));
    ASSERT_TRUE(test::wait_for([&] { return running.load(); }));
    QToolButton* cancel = nullptr;
    for (auto* const button : window.findChildren<QToolButton*>())
        if (button->text() == "Cancel") cancel = button;
    ASSERT_NE(cancel, nullptr);
    EXPECT_TRUE(cancel->isVisible());
    cancel->click();
    EXPECT_FALSE(cancel->isVisible());
    EXPECT_TRUE(window.message().isEmpty());
    EXPECT_EQ(window.current_page(), nullptr);
}

TEST(going_about, history) {
    history places;
    places.visit({page_id::overview, {}});
    places.visit({page_id::findings, {}});
    places.visit({page_id::findings, {}});
    EXPECT_EQ(places.back().page, page_id::overview);
    EXPECT_FALSE(places.can_go_back());
    places.visit({page_id::calls, {}});
    EXPECT_FALSE(places.can_go_forward());
    EXPECT_EQ(places.back().page, page_id::overview);
    EXPECT_EQ(places.forward().page, page_id::calls);
}

TEST(record_dialog, asks_for_what_a_recording_needs) {
    record_dialog dialog;
    dialog.set_command(QStringLiteral("./prog \"two words\" -x"));
    dialog.set_trace(QStringLiteral("/tmp/new.lastref"));
    auto const request = dialog.request();
    EXPECT_EQ(request.command, QStringList({"./prog", "two words", "-x"}));
    EXPECT_EQ(request.trace, "/tmp/new.lastref");
    EXPECT_EQ(request.stacks, "create");
    EXPECT_FALSE(request.replace);
    EXPECT_TRUE(dialog.can_record());
    dialog.set_folder(QStringLiteral("/nowhere"));
    EXPECT_FALSE(dialog.can_record());
    dialog.set_folder(QStringLiteral("/tmp"));
    EXPECT_TRUE(dialog.can_record());
    EXPECT_EQ(dialog.request().folder, "/tmp");
    dialog.set_trace(QStringLiteral("/nowhere/new.lastref"));
    EXPECT_FALSE(dialog.can_record());
    dialog.set_trace(QStringLiteral("/tmp"));
    EXPECT_FALSE(dialog.can_record()) << "a folder cannot be replaced";
}

TEST(editors, get_file_and_line_as_words_of_their_own) {
    source_place const place{"/a b/c.cpp", 12};
    EXPECT_EQ(editor_command(QStringLiteral("code -g %f:%l"), place), QStringList({"code", "-g", "/a b/c.cpp:12"}));
    EXPECT_EQ(source_of_link(QStringLiteral("source:7:%2Fa%3Ab.cpp")).file, "/a:b.cpp");
    EXPECT_FALSE(open_source({"/nowhere.cpp", 1}).isEmpty());
    EXPECT_TRUE(open_source({QString::fromStdString(test::file_with("prog",
                                                                    "\x7f"
                                                                    "ELF\x02\x01\x01")
                                                        .string()),
                             1})
                    .contains("no text file"));
}

}  // namespace
}  // namespace lastref::gui
