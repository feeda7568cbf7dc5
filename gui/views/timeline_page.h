// All calls on threads and streams, from minutes down to single ones.
#pragma once

#include "gui/views/page.h"

class QLabel;

namespace lastref::gui::widgets {
class timeline_view;
}

namespace lastref::gui {

class call_details;

class timeline_page : public page {
    Q_OBJECT

  public:
    explicit timeline_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::timeline; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    void choose_event(store::event_id event) override;
    QWidget& picture() override;

    widgets::timeline_view& view() { return *view_; }
    call_details& details() { return *details_; }

  protected:
    void changeEvent(QEvent* event) override;  // another palette

  private:
    QWidget* make_buttons();
    void show_legend();
    void show_filtered();

    trace_pointer trace_;
    filter_stack filters_;
    widgets::timeline_view* view_;
    call_details* details_;
    QLabel* legend_;
};

}  // namespace lastref::gui
