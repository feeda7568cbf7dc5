// One call in full: what it was given, what came of it, and its stack. Looked up in the background.
#pragma once

#include "gui/loader/background.h"
#include "gui/loader/loaded_trace.h"

#include <QWidget>

#include <optional>

namespace lastref::gui {

class rich_text;

class call_details : public QWidget {
    Q_OBJECT

  public:
    explicit call_details(QWidget* parent = nullptr);

    void show_call(trace_pointer const& trace, store::event_id event);  // 0: none
    QString text() const;
    QSize sizeHint() const override { return {400, 140}; }

  Q_SIGNALS:
    void event_asked(qint64 event);
    void finding_asked(std::size_t finding);
    void object_asked(qint64 process, quint64 handle);
    void told(QString const& text);

  protected:
    void changeEvent(QEvent* event) override;  // another palette

  private:
    rich_text* text_;
    std::optional<call_details_row> shown_;
    background work_;
};

}  // namespace lastref::gui
