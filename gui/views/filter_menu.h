// What can be filtered by, as a menu: processes, threads, streams and rules of the trace, an object, a stretch of time.
#pragma once

#include "gui/loader/loaded_trace.h"
#include "gui/models/filter.h"

#include <QMenu>

namespace lastref::gui {

class filter_menu : public QMenu {
    Q_OBJECT

  public:
    explicit filter_menu(QWidget* parent = nullptr);
    void show_trace(trace_pointer const& trace);
    void fill();  // as it does before it is shown

    // "0.5 – 1.25", in seconds; none where it is no stretch of time.
    static std::optional<filter> time_in(QString const& text);

  Q_SIGNALS:
    void chosen(lastref::gui::filter const& wanted);

  private:
    void add(QString const& title, std::vector<filter> const& filters);
    void ask_for_object();
    void ask_for_time();

    trace_pointer trace_;
};

// All that a trace offers, for the menu; of streams and threads no more than a menu can hold.
std::vector<filter> offered_filters(loaded_trace const& trace, filter_kind kind);

}  // namespace lastref::gui
