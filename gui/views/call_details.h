// One call in full: what it was given, what came of it, and its stack. Looked up in the background.
#pragma once

#include "gui/loader/background.h"
#include "gui/loader/loaded_trace.h"

#include <QWidget>

class QTextBrowser;

namespace lastref::gui {

class call_details : public QWidget {
    Q_OBJECT

  public:
    explicit call_details(QWidget* parent = nullptr);

    void show_call(trace_pointer const& trace, store::event_id event);  // 0: none
    QString text() const;
    QSize sizeHint() const override { return {400, 140}; }

  Q_SIGNALS:
    void told(QString const& text);

  private:
    QTextBrowser* text_;
    background work_;
};

}  // namespace lastref::gui
