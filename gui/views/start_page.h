// Before a trace is open: what can be done.
#pragma once

#include <QWidget>

class QListWidget;

namespace lastref::gui {

class start_page : public QWidget {
    Q_OBJECT

  public:
    explicit start_page(QWidget* parent = nullptr);
    void show_recent();

  Q_SIGNALS:
    void open_asked();
    void record_asked();
    void file_asked(QString const& path);

  private:
    QListWidget* recent_;
};

}  // namespace lastref::gui
