// A table through the filters, a search text and the order that a user chose.
#pragma once

#include "gui/models/table.h"

#include <QSortFilterProxyModel>

namespace lastref::gui {

class filtered_table : public QSortFilterProxyModel {
  public:
    explicit filtered_table(QObject* parent = nullptr);

    // Keeps filters, text and order. The old table goes.
    void show(std::unique_ptr<table> shown);
    table const* shown() const { return table_.get(); }

    void set_filters(filter_stack const& filters);
    void set_search(QString const& text);  // in any column, case ignored
    QString const& search() const { return search_; }

  protected:
    bool filterAcceptsRow(int row, QModelIndex const& parent) const override;

  private:
    bool found_in(int row) const;

    std::unique_ptr<table> table_;
    filter_stack filters_;
    std::vector<filter_kind> known_;
    QString search_;
};

}  // namespace lastref::gui
