// One finding in full, with what can be taken along.
#pragma once

#include "gui/loader/loaded_trace.h"

#include <QWidget>

#include <optional>
#include <vector>

class QPushButton;

namespace lastref::gui {

class rich_text;

class finding_details : public QWidget {
    Q_OBJECT

  public:
    explicit finding_details(QWidget* parent = nullptr);

    void show_finding(trace_pointer const& trace, std::optional<std::size_t> finding);
    QString text() const;

  Q_SIGNALS:
    void event_asked(qint64 event);
    void finding_asked(std::size_t finding);
    void object_asked(qint64 process, quint64 handle);
    void told(QString const& text);

  protected:
    void changeEvent(QEvent* event) override;  // another palette

  private:
    QPushButton* add_button(QString const& text, QString const& tip, std::string finding_row::*what);
    void render();
    finding_row const* shown() const;

    trace_pointer trace_;
    std::optional<std::size_t> finding_;
    rich_text* text_;
    std::vector<QPushButton*> buttons_;
};

}  // namespace lastref::gui
