// Two lines an item, with the sign of its severity: what is wrong, and below it where.
#pragma once

#include <QStyledItemDelegate>

namespace lastref::gui {

inline constexpr int detail_role = Qt::UserRole + 40;  // text of the second line

class overview_delegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, QStyleOptionViewItem const& option, QModelIndex const& index) const override;
    QSize sizeHint(QStyleOptionViewItem const& option, QModelIndex const& index) const override;
};

}  // namespace lastref::gui
