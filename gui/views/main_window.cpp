#include "gui/views/main_window.h"

#include "gui/models/words.h"
#include "gui/views/calls_page.h"
#include "gui/views/colours.h"
#include "gui/views/compare_page.h"
#include "gui/views/deferred_page.h"
#include "gui/views/filter_bar.h"
#include "gui/views/filter_menu.h"
#include "gui/views/findings_page.h"
#include "gui/views/hazards_page.h"
#include "gui/views/losses_page.h"
#include "gui/views/memory_page.h"
#include "gui/views/message_bar.h"
#include "gui/views/object_page.h"
#include "gui/views/outstanding_page.h"
#include "gui/views/overview_page.h"
#include "gui/views/recent_files.h"
#include "gui/views/record_dialog.h"
#include "gui/views/shutdown_page.h"
#include "gui/views/start_page.h"
#include "gui/views/timeline_page.h"
#include "gui/widgets/picture.h"

#include <QAction>
#include <QCloseEvent>
#include <QCoreApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSettings>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyle>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {
namespace {

QString local_file(QMimeData const* data) {
    auto const urls = data->urls();
    return urls.size() == 1 && urls[0].isLocalFile() ? urls[0].toLocalFile() : QString();
}

}  // namespace

main_window::main_window(QWidget* parent, trace_loader::work how)
    : QMainWindow(parent), session_(nullptr, std::move(how)) {
    setWindowTitle(tr("lastref"));
    setWindowIcon(program_icon());
    setAcceptDrops(true);
    setMinimumSize(640, 400);
    resize(1280, 800);
    make_centre();
    make_pages();
    make_output();
    make_status_bar();
    make_actions();
    connect_session();
    connect_exporter();
    read_settings();
    show_state();
}

main_window::~main_window() = default;

// --- making
// -------------------------------------------------------------------------------------------------------------

void main_window::make_centre() {
    navigation_ = new QListWidget(this);
    navigation_->setAccessibleName(tr("Pages"));
    navigation_->setFrameShape(QFrame::NoFrame);
    navigation_->setSpacing(2);
    shown_ = new QStackedWidget(this);
    filter_bar_ = new filter_bar(this);
    auto* const right = new QWidget(this);
    auto* const layout = new QVBoxLayout(right);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(filter_bar_);
    layout->addWidget(shown_, 1);
    auto* const beside = new QWidget(this);
    auto* const columns = new QHBoxLayout(beside);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(0);
    columns->addWidget(navigation_);
    columns->addWidget(right, 1);

    start_ = new start_page(this);
    stack_ = new QStackedWidget(this);
    stack_->addWidget(start_);
    stack_->addWidget(beside);
    message_bar_ = new message_bar(this);
    auto* const centre = new QWidget(this);
    auto* const whole = new QVBoxLayout(centre);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->setSpacing(0);
    whole->addWidget(message_bar_);
    whole->addWidget(stack_, 1);
    setCentralWidget(centre);

    connect(start_, &start_page::open_asked, this, &main_window::choose_file);
    connect(start_, &start_page::record_asked, this, &main_window::record_something);
    connect(start_, &start_page::file_asked, this, &main_window::open);
    connect(navigation_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0) show_page(pages_[static_cast<std::size_t>(row)]->id());
    });
    connect(filter_bar_, &filter_bar::cleared, this, [this] { set_filters({}); });
    connect(filter_bar_, &filter_bar::removed, this, [this](filter_kind kind) {
        auto left = filters_;
        left.remove(kind);
        set_filters(left);
    });
}

void main_window::make_pages() {
    add_page(new overview_page(this));
    add_page(new findings_page(this));
    add_page(new outstanding_page(this));
    add_page(new hazards_page(this));
    add_page(new shutdown_page(this));
    add_page(new deferred_page(this));
    add_page(new memory_page(this));
    add_page(new timeline_page(this));
    add_page(new calls_page(this));
    add_page(new compare_page(this));
    auto* const losses = new losses_page(this);
    connect(losses, &losses_page::suppressions_asked, this, &main_window::choose_suppressions);
    add_page(losses);
    object_ = new object_page(this);
    add_page(object_);
    int widest = 0;
    for (auto const* const each : pages_) widest = std::max(widest, fontMetrics().horizontalAdvance(each->title()));
    navigation_->setFixedWidth(widest + 40);
    navigation_->setCurrentRow(0);
}

void main_window::add_page(page* made) {
    pages_.push_back(made);
    shown_->addWidget(made);
    auto* const item = new QListWidgetItem(made->title(), navigation_);
    auto const number = pages_.size();
    if (number <= 10) item->setToolTip(tr("Ctrl+%1").arg(number % 10));
    item->setSizeHint({0, fontMetrics().height() + 12});
    connect(made, &page::page_asked, this, &main_window::show_page);
    connect(made, &page::finding_asked, this, &main_window::show_finding);
    connect(made, &page::event_asked, this, &main_window::show_event);
    connect(made, &page::object_asked, this, &main_window::show_object);
    connect(made, &page::filter_asked, this, &main_window::add_filter);
    connect(made, &page::told, this, [this](QString const& text) { statusBar()->showMessage(text, 5000); });
}

void main_window::make_output() {
    output_ = new QPlainTextEdit(this);
    output_->setReadOnly(true);
    output_->setMaximumBlockCount(10'000);
    output_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    output_->setAccessibleName(tr("Output of the program"));
    output_dock_ = new QDockWidget(tr("Output of the program"), this);
    output_dock_->setObjectName(QStringLiteral("output"));
    output_dock_->setWidget(output_);
    addDockWidget(Qt::BottomDockWidgetArea, output_dock_);
    output_dock_->hide();
}

void main_window::make_status_bar() {
    progress_ = new QProgressBar(this);
    progress_->setAccessibleName(tr("Progress"));
    progress_->setFixedWidth(220);
    cancel_ = new QToolButton(this);
    cancel_->setText(tr("Cancel"));
    cancel_->setShortcut(QKeySequence(Qt::Key_Escape));  // while it is shown
    cancel_->setAccessibleName(tr("Cancel what is under way"));
    connect(cancel_, &QToolButton::clicked, this, [this] {
        session_.cancel();
        exporter_.cancel();
    });
    going_on_ = new QLabel(this);
    going_on_->setAccessibleName(tr("What goes on"));
    statusBar()->addPermanentWidget(going_on_);
    statusBar()->addPermanentWidget(progress_);
    statusBar()->addPermanentWidget(cancel_);
    progress_->hide();
    cancel_->hide();
}

QAction* main_window::add_action(QMenu* menu, QString const& text, QKeySequence const& keys,
                                 void (main_window::*what)()) {
    auto* const out = menu->addAction(text);
    out->setShortcut(keys);
    connect(out, &QAction::triggered, this, what);
    return out;
}

void main_window::make_actions() {
    make_file_menu();
    make_view_menu();
    make_tool_bar();
    auto* const help = menuBar()->addMenu(tr("&Help"));
    add_action(help, tr("&About lastref"), {}, &main_window::about);
    for (int number = 1; number <= 10; ++number) {
        auto* const keys = new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number % 10)), this);
        connect(keys, &QShortcut::activated, this, [this, number] {
            auto const place = static_cast<std::size_t>(number) - 1;
            if (place < pages_.size() && current_page()) show_page(pages_[place]->id());
        });
    }
}

void main_window::make_file_menu() {
    auto* const file = menuBar()->addMenu(tr("&File"));
    open_ = add_action(file, tr("&Open…"), QKeySequence::Open, &main_window::choose_file);
    recent_ = file->addMenu(tr("Open &recent"));
    connect(recent_, &QMenu::aboutToShow, this, &main_window::fill_recent);
    record_ =
        add_action(file, tr("Re&cord a program…"), QKeySequence(Qt::CTRL | Qt::Key_R), &main_window::record_something);
    stop_ = file->addAction(tr("&Stop recording"));
    connect(stop_, &QAction::triggered, this, [this] { session_.stop_recording(); });
    file->addSeparator();
    add_action(file, tr("Re&load"), QKeySequence::Refresh, &main_window::reload);
    follow_ = file->addAction(tr("&Follow while it grows"));
    follow_->setCheckable(true);
    connect(follow_, &QAction::triggered, this, &main_window::toggle_following);
    add_action(file, tr("Use a file of s&uppressions…"), {}, &main_window::choose_suppressions);
    file->addSeparator();
    export_ = add_action(file, tr("&Export the table as CSV…"), QKeySequence(Qt::CTRL | Qt::Key_E),
                         &main_window::choose_export);
    add_action(file,
               widgets::can_save_svg() ? tr("Export the &picture as PNG or SVG…") : tr("Export the &picture as PNG…"),
               QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), &main_window::choose_picture);
    file->addSeparator();
    auto* const quit = file->addAction(tr("&Quit"));
    quit->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Q));
    connect(quit, &QAction::triggered, this, &QWidget::close);
}

void main_window::make_view_menu() {
    auto* const view = menuBar()->addMenu(tr("&View"));
    back_ = add_action(view, tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left), &main_window::go_back);
    forward_ = add_action(view, tr("&Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), &main_window::go_forward);
    add_action(view, tr("&Search"), QKeySequence::Find, &main_window::focus_search);
    filter_menu_ = new filter_menu(this);
    view->addMenu(filter_menu_);
    connect(filter_menu_, &filter_menu::chosen, this, &main_window::add_filter);
    add_action(view, tr("Show &everything"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F),
               &main_window::clear_filters);
    view->addAction(output_dock_->toggleViewAction());
}

void main_window::make_tool_bar() {
    auto* const bar = addToolBar(tr("Navigation"));
    bar->setObjectName(QStringLiteral("navigation"));
    bar->setMovable(false);
    // Arrows of the style: they have the palette's colour.
    for (auto const& [action, arrow] : {std::pair{back_, Qt::LeftArrow}, std::pair{forward_, Qt::RightArrow}}) {
        bar->addAction(action);
        if (auto* const button = qobject_cast<QToolButton*>(bar->widgetForAction(action))) button->setArrowType(arrow);
    }
    bar->addSeparator();
    bar->addAction(open_);
    bar->addAction(record_);
    bar->addAction(stop_);
    auto* const space = new QWidget(this);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    auto* const filters = new QToolButton(this);
    filters->setText(tr("Filter"));
    filters->setAccessibleName(tr("Add a filter"));
    filters->setPopupMode(QToolButton::InstantPopup);
    filters->setMenu(filter_menu_);
    bar->addWidget(filters);
    bar->addWidget(space);
    search_ = new QLineEdit(this);
    search_->setPlaceholderText(tr("Search this page (Ctrl+F)"));
    search_->setAccessibleName(tr("Search"));
    search_->setClearButtonEnabled(true);
    search_->setMaximumWidth(340);
    bar->addWidget(search_);
    // A scan of ten million calls a keystroke would be nine too many.
    auto* const pause = new QTimer(this);
    pause->setSingleShot(true);
    pause->setInterval(200);
    connect(search_, &QLineEdit::textChanged, pause, qOverload<>(&QTimer::start));
    connect(pause, &QTimer::timeout, this, [this] { set_search(search_->text()); });
}

void main_window::connect_session() {
    connect(&session_, &session::opened, this, &main_window::take_opened);
    connect(&session_, &session::changed, this, &main_window::take_changed);
    connect(&session_, &session::progressed, this, &main_window::show_progress);
    connect(&session_, &session::idle, this, &main_window::show_idle);
    connect(&session_, &session::state_changed, this, &main_window::show_state);
    connect(&session_, &session::failed, message_bar_, &message_bar::show_message);
    connect(&session_, &session::told, this, [this](QString const& text) { statusBar()->showMessage(text, 10'000); });
    connect(&session_, &session::printed, this, [this](QByteArray const& text) {
        output_dock_->show();
        output_->moveCursor(QTextCursor::End);
        output_->insertPlainText(QString::fromUtf8(text));
    });
}

void main_window::connect_exporter() {
    connect(&exporter_, &csv_export::progressed, this,
            [this](double share) { show_progress(tr("writing the table"), share); });
    connect(&exporter_, &csv_export::cancelled, this, &main_window::show_idle);
    connect(&exporter_, &csv_export::failed, this, [this](QString const& problem) {
        show_idle();
        message_bar_->show_message(problem);
    });
    connect(&exporter_, &csv_export::done, this, [this](QString const& path) {
        show_idle();
        statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
    });
}

// --- what became of the work ---

void main_window::take_opened(trace_pointer const& trace) {
    auto const path = text_of(trace->path);
    message_bar_->hide();
    remember_file(path);
    setWindowTitle(tr("%1 – lastref").arg(QFileInfo(path).fileName()));
    setWindowFilePath(path);
    history_.clear();
    filters_ = {};
    filter_bar_->show_filters(filters_);
    filter_menu_->show_trace(trace);
    for (auto* const each : pages_) {
        each->set_filters(filters_);
        each->show_trace(trace);
    }
    stack_->setCurrentIndex(1);
    show_page(page_id::overview);
    show_state();
}

void main_window::take_changed(trace_pointer const& trace) {
    message_bar_->hide();
    filter_menu_->show_trace(trace);
    for (auto* const each : pages_) each->show_trace(trace);
    statusBar()->showMessage(tr("%1 calls").arg(count_text(trace->events)), 3000);
    show_state();
}

void main_window::show_progress(QString const& what, double share) {
    statusBar()->showMessage(what + QStringLiteral(" …"));
    progress_->setRange(0, share < 0 ? 0 : 1000);
    progress_->setValue(static_cast<int>(share * 1000));
    progress_->show();
    cancel_->show();
}

void main_window::show_idle() {
    statusBar()->clearMessage();
    progress_->hide();
    cancel_->hide();
}

void main_window::show_state() {
    stop_->setVisible(session_.is_recording());
    going_on_->setText(session_.is_recording()   ? tr("recording")
                       : session_.is_following() ? tr("following")
                                                 : QString());
    follow_->setEnabled(session_.trace() != nullptr);
    follow_->setChecked(session_.is_following());
    export_->setEnabled(current_page() && current_page()->exported());
    back_->setEnabled(history_.can_go_back());
    forward_->setEnabled(history_.can_go_forward());
}

// --- going about
// ------------------------------------------------------------------------------------------------------------

page* main_window::page_of(page_id id) const {
    auto const found = std::find_if(pages_.begin(), pages_.end(), [id](auto const* each) { return each->id() == id; });
    return found == pages_.end() ? nullptr : *found;
}

page* main_window::current_page() const {
    return session_.trace() ? static_cast<page*>(shown_->currentWidget()) : nullptr;
}

void main_window::show_page(page_id id) {
    auto* const wanted = page_of(id);
    if (wanted == nullptr) return;
    shown_->setCurrentWidget(wanted);
    navigation_->setCurrentRow(shown_->indexOf(wanted));
    visit();
}

void main_window::visit() {
    if (travelling_ || !session_.trace()) return;
    visited here{current_page()->id(), filters_, {}, 0};
    if (here.page == page_id::object) {
        here.process = object_->process();
        here.object = object_->handle();
    }
    history_.visit(here);
    show_state();
}

void main_window::show_finding(std::size_t finding) {
    for (auto* const each : pages_) each->choose_finding(finding);  // where it is listed too
    show_page(page_id::findings);
}

void main_window::show_event(qint64 event) {
    show_page(page_id::calls);
    for (auto* const each : pages_) each->choose_event(store::event_id{event});  // the timeline marks it too
}

void main_window::show_object(qint64 process, quint64 handle) {
    object_->show_object(store::process_id{static_cast<std::uint32_t>(process)}, handle);
    show_page(page_id::object);
}

void main_window::add_filter(filter const& f) {
    auto more = filters_;
    more.add(f);
    set_filters(more);
}

void main_window::set_filters(filter_stack const& filters) {
    filters_ = filters;
    filter_bar_->show_filters(filters_);
    for (auto* const each : pages_) each->set_filters(filters_);
    visit();
}

void main_window::set_search(QString const& text) {
    if (search_->text() != text) search_->setText(text);
    for (auto* const each : pages_) each->set_search(text);
}

void main_window::go(visited const& place) {
    travelling_ = true;
    set_filters(place.filters);
    if (place.page == page_id::object) object_->show_object(place.process, place.object);
    show_page(place.page);
    travelling_ = false;
    show_state();
}

void main_window::go_back() {
    if (history_.can_go_back()) go(history_.back());
}

void main_window::go_forward() {
    if (history_.can_go_forward()) go(history_.forward());
}

void main_window::focus_search() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

QString main_window::message() const {
    return message_bar_->text();
}

// --- files
// --------------------------------------------------------------------------------------------------------------------

void main_window::choose_file() {
    auto const path = QFileDialog::getOpenFileName(
        this, tr("Open a trace"), {}, tr("Traces and left-over spools (*.lastref *.spool);;All files (*)"));
    if (!path.isEmpty()) open(path);
}

void main_window::choose_suppressions() {
    auto const path = QFileDialog::getOpenFileName(this, tr("A file of suppressions"));
    if (!path.isEmpty()) session_.use_suppressions(path);
}

void main_window::record_something() {
    record_dialog dialog(this);
    if (dialog.exec() != QDialog::Accepted) return;
    output_->clear();
    record(dialog.request());
}

void main_window::choose_export() {
    if (!current_page() || !current_page()->exported()) return;
    auto const path =
        QFileDialog::getSaveFileName(this, tr("Export the table"), QStringLiteral("lastref.csv"), tr("CSV (*.csv)"));
    if (!path.isEmpty()) export_table(path);
}

void main_window::choose_picture() {
    if (!current_page()) return;
    auto const path =
        QFileDialog::getSaveFileName(this, tr("Export the picture"), QStringLiteral("lastref.png"),
                                     widgets::can_save_svg() ? tr("Pictures (*.png *.svg)") : tr("Pictures (*.png)"));
    if (path.isEmpty()) return;
    auto const problem = widgets::save_picture(current_page()->picture(), path);
    if (problem.isEmpty())
        statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
    else
        message_bar_->show_message(problem);
}

bool main_window::export_table(QString const& path) {
    auto const* const model = current_page() ? current_page()->exported() : nullptr;
    return model != nullptr && exporter_.start(*model, path);
}

void main_window::fill_recent() {
    recent_->clear();
    for (auto const& path : recent_files()) recent_->addAction(path, this, [this, path] { open(path); });
    if (recent_->isEmpty()) recent_->addAction(tr("none yet"))->setEnabled(false);
    recent_->addSeparator();
    recent_->addAction(tr("Forget them"), this, [this] {
        forget_files();
        start_->show_recent();
    });
}

void main_window::about() {
    QMessageBox::about(this, tr("About lastref"),
                       tr("<h3>lastref %1</h3><p>Shows what becomes of CUDA resources after their last reference is "
                          "dropped.</p><p>Apache License 2.0. Uses Qt %2 under the LGPL.</p>")
                           .arg(QCoreApplication::applicationVersion(), QString::fromLatin1(qVersion())));
}

void main_window::dragEnterEvent(QDragEnterEvent* event) {
    if (!local_file(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void main_window::dropEvent(QDropEvent* event) {
    auto const path = local_file(event->mimeData());
    if (!path.isEmpty()) open(path);
}

void main_window::closeEvent(QCloseEvent* event) {
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    settings.setValue(QStringLiteral("state"), saveState());
    for (auto const& [key, splitter] : splitters()) settings.setValue(key, splitter->saveState());
    QMainWindow::closeEvent(event);
}

// How pages are divided, by names that stay: those that have a name.
std::vector<std::pair<QString, QSplitter*>> main_window::splitters() const {
    std::vector<std::pair<QString, QSplitter*>> out;
    for (auto const* const page : pages_)
        for (auto* const each : page->findChildren<QSplitter*>())
            if (!each->objectName().isEmpty())
                out.emplace_back(
                    QStringLiteral("splitter/%1/%2").arg(static_cast<int>(page->id())).arg(each->objectName()), each);
    return out;
}

void main_window::read_settings() {
    QSettings const settings;
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("state")).toByteArray());
    for (auto const& [key, splitter] : splitters())
        if (settings.contains(key)) splitter->restoreState(settings.value(key).toByteArray());
}

}  // namespace lastref::gui
