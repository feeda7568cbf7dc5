// What is wrong, worst first, in plain words; numbers; processes. Everything leads to the page that explains it.
#pragma once

#include "gui/models/tables.h"
#include "gui/views/page.h"

#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QListWidget;
class QListWidgetItem;
class QVBoxLayout;

namespace lastref::gui {

class chart_group;
class table_view;

class overview_page : public page {
    Q_OBJECT

  public:
    explicit overview_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::overview; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    QAbstractItemModel const* exported() const override { return processes_.get(); }

    QString headline() const;
    QListWidget& lines() { return *lines_; }

  protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void show_facts();
    void arrange_facts();
    void show_lines();
    void paint_headline();
    void follow(QListWidgetItem* item);

    overview shown_;
    QLabel* headline_;
    QLabel* below_;
    QGridLayout* facts_;
    QListWidget* lines_;
    QLabel* process_heading_;
    chart_group* charts_;
    table_view* process_view_;
    table_pointer processes_;
    std::vector<QPushButton*> tiles_;
};

}  // namespace lastref::gui
