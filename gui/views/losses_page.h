// What the trace lacks, and which suppressions applied.
#pragma once

#include "gui/models/filtered_table.h"
#include "gui/models/tables.h"
#include "gui/views/page.h"

class QLabel;

namespace lastref::gui {

class table_view;

class losses_page : public page {
    Q_OBJECT

  public:
    explicit losses_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::losses; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_search(QString const& text) override;
    QAbstractItemModel const* exported() const override { return &losses_; }

  Q_SIGNALS:
    void suppressions_asked();  // a file of them is to be chosen

  private:
    QLabel* reasons_;
    QLabel* ledger_;
    filtered_table losses_;
    filtered_table suppressions_;
    table_view* loss_view_;
    table_view* suppression_view_;
};

}  // namespace lastref::gui
