// Every call and callback, however many: only what is seen is read.
#pragma once

#include "gui/loader/background.h"
#include "gui/models/call_search.h"
#include "gui/views/page.h"

class QLabel;
class QMenu;

namespace lastref::gui {

class call_details;
class call_table;

class calls_page : public page {
    Q_OBJECT

  public:
    explicit calls_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::calls; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    void set_search(QString const& text) override;
    QAbstractItemModel const* exported() const override { return &calls_; }
    void choose_event(store::event_id event) override;

    call_table& view() { return *view_; }
    bool searching() const { return search_.busy(); }

  private:
    void set_up_view();
    void ask();  // for what the query says; at once where that is everything
    void show_list(call_source::event_list list);
    void sort_by(int column);
    void take_current(int row);
    void offer(QMenu& menu, store::event const& e);
    void restore();
    void tell_count();

    trace_pointer trace_;
    call_model calls_;
    call_query query_;
    call_table* view_;
    QLabel* count_;
    call_details* details_;
    background search_;
    store::event_id chosen_;
};

}  // namespace lastref::gui
