// What was never released: by site, kind, holder; and the chosen object's life, holders and stack.
#pragma once

#include "gui/loader/background.h"
#include "gui/views/list_page.h"

namespace lastref::gui {

class payload_view;
class rich_text;

class outstanding_page : public list_page {
    Q_OBJECT

  public:
    explicit outstanding_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::outstanding; }
    QString title() const override;
    QString details() const;
    void choose_finding(std::size_t finding) override;  // the first object that it tells of

  protected:
    table_pointer make_table(trace_pointer const& trace) const override { return outstanding_table(trace); }
    void row_chosen(std::optional<std::size_t> row) override;
    void changeEvent(QEvent* event) override;  // another palette

  private:
    void show_stack(outstanding_row const& row);
    QString html(outstanding_row const& row, QString const& stack) const;

    void show_story(outstanding_row const* row);

    rich_text* text_;
    payload_view* story_;
    background stacks_;
};

}  // namespace lastref::gui
