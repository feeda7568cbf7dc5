// The report: findings by rule, and the chosen one in full.
#pragma once

#include "gui/views/list_page.h"

namespace lastref::gui {

class finding_details;

class findings_page : public list_page {
  public:
    explicit findings_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::findings; }
    QString title() const override;
    void choose_finding(std::size_t finding) override { choose_row(finding); }
    finding_details& details() { return *details_; }

  protected:
    table_pointer make_table(trace_pointer const& trace) const override { return finding_table(trace); }
    void row_chosen(std::optional<std::size_t> row) override;

  private:
    finding_details* details_;
};

}  // namespace lastref::gui
