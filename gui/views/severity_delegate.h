// Draws the sign of a severity before the text of one column, and gives rows room to breathe.
#pragma once

#include <QStyledItemDelegate>

namespace lastref::gui {

class severity_delegate : public QStyledItemDelegate {
  public:
    explicit severity_delegate(QObject* parent, int column = 0) : QStyledItemDelegate(parent), column_(column) {}

    QSize sizeHint(QStyleOptionViewItem const& option, QModelIndex const& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, QModelIndex const& index) const override;

  private:
    int column_;
};

}  // namespace lastref::gui
