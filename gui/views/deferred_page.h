// What waits between the driver's callback and its clean-up: backlog over time, and how long clean-ups took.
#pragma once

#include "gui/views/page.h"

class QLabel;

namespace lastref::gui::widgets {
class histogram_view;
}

namespace lastref::gui {

class chart_group;

class deferred_page : public page {
    Q_OBJECT

  public:
    explicit deferred_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::deferred; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    QWidget& picture() override;

  private:
    QLabel* text_;
    chart_group* charts_;
    widgets::histogram_view* times_;
};

}  // namespace lastref::gui
