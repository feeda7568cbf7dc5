// One finding in full, with what can be taken along.
#pragma once

#include "gui/loader/loaded_trace.h"

#include <QWidget>

#include <optional>
#include <vector>

class QPushButton;
class QTextBrowser;

namespace lastref::gui {

class finding_details : public QWidget {
    Q_OBJECT

  public:
    explicit finding_details(QWidget* parent = nullptr);

    void show_finding(trace_pointer const& trace, std::optional<std::size_t> finding);
    QString text() const;

  Q_SIGNALS:
    void event_asked(qint64 event);
    void told(QString const& text);

  protected:
    void changeEvent(QEvent* event) override;  // another palette

  private:
    QPushButton* add_button(QString const& text, QString const& tip, std::string finding_row::*what);
    void render();
    void follow(QString const& link);
    finding_row const* shown() const;

    trace_pointer trace_;
    std::optional<std::size_t> finding_;
    QTextBrowser* text_;
    std::vector<QPushButton*> buttons_;
};

}  // namespace lastref::gui
