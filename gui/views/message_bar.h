// A message that stays until it is read: what could not be opened, and why.
#pragma once

#include <QFrame>

class QLabel;

namespace lastref::gui {

class message_bar : public QFrame {
    Q_OBJECT

  public:
    explicit message_bar(QWidget* parent = nullptr);
    void show_message(QString const& text);
    QString text() const;

  private:
    QLabel* icon_;
    QLabel* text_;
};

}  // namespace lastref::gui
