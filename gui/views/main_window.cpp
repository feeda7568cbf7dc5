#include "gui/views/main_window.h"

#include "gui/models/export.h"
#include "gui/models/words.h"
#include "gui/views/calls_page.h"
#include "gui/views/colours.h"
#include "gui/views/compare_page.h"
#include "gui/views/deferred_page.h"
#include "gui/views/filter_bar.h"
#include "gui/views/findings_page.h"
#include "gui/views/hazards_page.h"
#include "gui/views/losses_page.h"
#include "gui/views/memory_page.h"
#include "gui/views/message_bar.h"
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
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSaveFile>
#include <QSettings>
#include <QShortcut>
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
    cancel_->setAccessibleName(tr("Cancel what is under way"));
    connect(cancel_, &QToolButton::clicked, this, [this] { session_.cancel(); });
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
    add_action(file, tr("&Open…"), QKeySequence::Open, &main_window::choose_file)
        ->setIcon(style()->standardIcon(QStyle::SP_DialogOpenButton));
    recent_ = file->addMenu(tr("Open &recent"));
    connect(recent_, &QMenu::aboutToShow, this, &main_window::fill_recent);
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
    add_action(file, tr("Export the &picture as PNG…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E),
               &main_window::choose_picture);
    file->addSeparator();
    auto* const quit = file->addAction(tr("&Quit"));
    quit->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Q));
    connect(quit, &QAction::triggered, this, &QWidget::close);
}

void main_window::make_view_menu() {
    auto* const view = menuBar()->addMenu(tr("&View"));
    back_ = add_action(view, tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left), &main_window::go_back);
    forward_ = add_action(view, tr("&Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), &main_window::go_forward);
    back_->setIcon(style()->standardIcon(QStyle::SP_ArrowBack));
    forward_->setIcon(style()->standardIcon(QStyle::SP_ArrowForward));
    add_action(view, tr("&Search"), QKeySequence::Find, &main_window::focus_search);
    view->addAction(output_dock_->toggleViewAction());
}

void main_window::make_tool_bar() {
    auto* const bar = addToolBar(tr("Navigation"));
    bar->setObjectName(QStringLiteral("navigation"));
    bar->setMovable(false);
    bar->addAction(back_);
    bar->addAction(forward_);
    auto* const space = new QWidget(this);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
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
    stop_->setEnabled(session_.is_recording());
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
    history_.visit({current_page()->id(), filters_});
    show_state();
}

void main_window::show_finding(std::size_t finding) {
    if (auto* const to = page_of(page_id::findings)) to->choose_finding(finding);
    show_page(page_id::findings);
}

void main_window::show_event(qint64 event) {
    show_page(page_id::calls);
    for (auto* const each : pages_) each->choose_event(store::event_id{event});  // the timeline marks it too
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
    if (path.isEmpty()) return;
    if (export_table(path))
        statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
    else
        message_bar_->show_message(tr("%1 could not be written.").arg(path));
}

void main_window::choose_picture() {
    if (!current_page()) return;
    auto const path = QFileDialog::getSaveFileName(this, tr("Export the picture"), QStringLiteral("lastref.png"),
                                                   tr("Pictures (*.png)"));
    if (path.isEmpty()) return;
    auto const problem = widgets::save_png(current_page()->picture(), path);
    if (problem.isEmpty())
        statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
    else
        message_bar_->show_message(problem);
}

bool main_window::export_table(QString const& path) {
    auto const* const model = current_page() ? current_page()->exported() : nullptr;
    QSaveFile file(path);
    return model && file.open(QIODevice::WriteOnly) && write_csv(*model, file) && file.commit();
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
    QMainWindow::closeEvent(event);
}

void main_window::read_settings() {
    QSettings const settings;
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("state")).toByteArray());
}

}  // namespace lastref::gui
