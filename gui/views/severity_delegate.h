// Draws the sign of a row's severity before its first column.
#pragma once

#include <QStyledItemDelegate>

namespace lastref::gui {

class severity_delegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, QModelIndex const& index) const override;
};

}  // namespace lastref::gui
