// How each process ended: what was released in which phase, what failed, what was left.
#pragma once

#include "gui/views/page.h"

class QComboBox;
class QLabel;

namespace lastref::gui::widgets {
class shutdown_view;
}

namespace lastref::gui {

class shutdown_page : public page {
    Q_OBJECT

  public:
    explicit shutdown_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::shutdown; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    QWidget& picture() override;
    widgets::shutdown_view& view() { return *view_; }

  private:
    void show_process();

    trace_pointer trace_;
    QComboBox* process_;
    QLabel* ended_;  // where there is nothing to show
    widgets::shutdown_view* view_;
};

}  // namespace lastref::gui
