// The window: pages, the filters and the search that apply to all of them, and where one has been.
#pragma once

#include "gui/loader/session.h"
#include "gui/models/csv_export.h"
#include "gui/views/history.h"
#include "gui/views/page.h"

#include <QMainWindow>

#include <utility>
#include <vector>

class QAction;
class QLabel;
class QLineEdit;
class QListWidget;
class QMenu;
class QPlainTextEdit;
class QProgressBar;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace lastref::gui {

class filter_bar;
class filter_menu;
class message_bar;
class object_page;
class start_page;

class main_window : public QMainWindow {
    Q_OBJECT

  public:
    explicit main_window(QWidget* parent = nullptr, trace_loader::work how = load_or_find);
    ~main_window() override;

    void open(QString const& path) { session_.open(path); }
    void record(recording_request const& request) { session_.record(request); }
    session& work() { return session_; }

    std::vector<page*> const& pages() const { return pages_; }
    page* page_of(page_id id) const;
    page* current_page() const;  // null where no trace is open
    void show_page(page_id id);
    void add_filter(filter const& f);
    filter_stack const& filters() const { return filters_; }
    QString message() const;
    void set_search(QString const& text);
    void go_back();
    void go_forward();
    bool export_table(QString const& path);  // of the current page, as CSV; a long one goes on in the background

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

  private:
    void make_pages();
    void add_page(page* made);
    void make_centre();
    void make_actions();
    void make_file_menu();
    void make_view_menu();
    void make_tool_bar();
    void make_status_bar();
    void make_output();
    void connect_session();
    void connect_exporter();
    QAction* add_action(QMenu* menu, QString const& text, QKeySequence const& keys, void (main_window::*what)());

    void choose_file();
    void choose_suppressions();
    void choose_export();
    void choose_picture();
    void record_something();
    void reload() { session_.reload(); }
    void focus_search();
    void fill_recent();
    void about();
    void toggle_following(bool on) { session_.set_following(on); }

    void take_opened(trace_pointer const& trace);
    void take_changed(trace_pointer const& trace);
    void show_progress(QString const& what, double share);
    void show_idle();
    void show_state();
    void show_finding(std::size_t finding);
    void show_event(qint64 event);
    void show_object(qint64 process, quint64 handle);
    void set_filters(filter_stack const& filters);
    void clear_filters() { set_filters({}); }
    void go(visited const& place);
    void visit();
    std::vector<std::pair<QString, QSplitter*>> splitters() const;
    void read_settings();

    session session_;
    csv_export exporter_;
    std::vector<page*> pages_;
    filter_stack filters_;
    history history_;
    bool travelling_ = false;

    QListWidget* navigation_ = nullptr;
    QStackedWidget* stack_ = nullptr;  // start page, or navigation and pages
    QStackedWidget* shown_ = nullptr;  // the pages
    object_page* object_ = nullptr;
    start_page* start_ = nullptr;
    filter_bar* filter_bar_ = nullptr;
    filter_menu* filter_menu_ = nullptr;
    message_bar* message_bar_ = nullptr;
    QLineEdit* search_ = nullptr;
    QLabel* going_on_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QToolButton* cancel_ = nullptr;
    QPlainTextEdit* output_ = nullptr;
    QDockWidget* output_dock_ = nullptr;
    QMenu* recent_ = nullptr;
    QAction* open_ = nullptr;
    QAction* record_ = nullptr;
    QAction* back_ = nullptr;
    QAction* forward_ = nullptr;
    QAction* follow_ = nullptr;
    QAction* stop_ = nullptr;
    QAction* export_ = nullptr;
};

}  // namespace lastref::gui
