// Charts with their names, below or beside each other, that show the same stretch of time.
#pragma once

#include "gui/widgets/chart_view.h"

#include <QWidget>

#include <memory>
#include <vector>

class QSplitter;

namespace lastref::gui {

class chart_group : public QWidget {
    Q_OBJECT

  public:
    explicit chart_group(QWidget* parent = nullptr, Qt::Orientation direction = Qt::Vertical);

    widgets::chart_view* add_chart(QString const& name);
    void add(QString const& name, QWidget* other);  // after the charts
    std::vector<widgets::chart_view*> const& charts() const { return charts_; }

  Q_SIGNALS:
    void hovered(QString const& text);

  private:
    void line_up();
    void follow(widgets::chart_view const* leader, qint64 from, qint64 to);

    QSplitter* splitter_;
    std::vector<widgets::chart_view*> charts_;
    bool following_ = false;
};

}  // namespace lastref::gui
