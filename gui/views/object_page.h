// One object: what it was, who made and released it with their stacks, which findings tell of it, who held it, and
// every call that names it. A handle that was handed out again has several lives.
#pragma once

#include "gui/loader/background.h"
#include "gui/loader/object_lives.h"
#include "gui/models/call_model.h"
#include "gui/views/page.h"

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace lastref::gui {

class call_table;
class payload_view;
class rich_text;

class object_page : public page {
    Q_OBJECT

  public:
    explicit object_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::object; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    QAbstractItemModel const* exported() const override { return &calls_; }

    // `event`: a call of the life that is meant; none: the latest.
    void show_object(store::process_id process, store::handle handle, store::event_id event = {});
    store::process_id process() const { return process_; }
    store::handle handle() const { return handle_; }

    QString details() const;
    int lives() const { return static_cast<int>(lives_.size()); }
    void show_life(int number);
    bool busy() const { return texts_.busy() || search_.busy(); }

  protected:
    void changeEvent(QEvent* event) override;  // another palette
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* make_head();
    void take_typed();
    void fill_lives();
    void show_chosen();
    void find_calls_of(object_life const* life);
    void look_up(object_life const* life);
    void show_story(object_life const* life);
    void show_texts();
    QString life_text(object_life const& life, int number) const;
    QString findings_html() const;
    object_life const* life() const;

    trace_pointer trace_;
    bool stale_ = false;  // what is shown is of an earlier state of the trace
    store::process_id process_;
    store::handle handle_ = 0;
    std::vector<object_life> lives_;
    std::optional<call_details_row> made_, gone_;

    QLineEdit* typed_;
    QComboBox* which_;
    QPushButton* only_;
    QPushButton* in_timeline_;
    QLabel* count_;
    rich_text* text_;
    call_model calls_;
    call_table* table_;
    payload_view* story_;
    background texts_;
    background search_;
};

}  // namespace lastref::gui
