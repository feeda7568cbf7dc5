#include "gui/views/severity_delegate.h"

#include "gui/models/roles.h"
#include "gui/views/colours.h"

#include <algorithm>

namespace lastref::gui {

void severity_delegate::initStyleOption(QStyleOptionViewItem* option, QModelIndex const& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    auto const severity = index.data(severity_role);
    if (index.column() != column_ || !severity.isValid()) return;
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->icon = severity_icon(static_cast<findings::severity>(severity.toInt()), option->palette);
    option->decorationSize = {13, 13};
}

QSize severity_delegate::sizeHint(QStyleOptionViewItem const& option, QModelIndex const& index) const {
    auto const least = QStyledItemDelegate::sizeHint(option, index);
    return {least.width() + 8, std::max(least.height(), option.fontMetrics.height()) + 6};
}

}  // namespace lastref::gui
