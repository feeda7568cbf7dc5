// What waits between the driver's callback and its clean-up: backlog over time, and how long clean-ups took.
#pragma once

#include "gui/loader/background.h"
#include "gui/models/filtered_table.h"
#include "gui/views/page.h"

class QLabel;

namespace lastref::gui::widgets {
class histogram_view;
}

namespace lastref::gui {

class chart_group;
class table_view;

class deferred_page : public page {
    Q_OBJECT

  public:
    explicit deferred_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::deferred; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    QWidget& picture() override;
    QAbstractItemModel const* exported() const override { return &replay_; }
    QString text() const;

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void ask();

    trace_pointer trace_;
    bool stale_ = false;  // what the reference would have made of it is not known yet
    QLabel* text_;
    chart_group* charts_;
    widgets::histogram_view* times_;
    filtered_table replay_;
    table_view* replay_view_;
    background work_;
};

}  // namespace lastref::gui
