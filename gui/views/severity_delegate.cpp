#include "gui/views/severity_delegate.h"

#include "gui/models/roles.h"
#include "gui/models/words.h"
#include "gui/views/colours.h"

#include <QHash>

#include <algorithm>

namespace lastref::gui {
namespace {

// Painting an icon for every cell of every repaint would be most of the work of scrolling.
QIcon cached_icon(findings::severity of, QPalette const& palette) {
    static QHash<int, QIcon> icons;
    auto const key = static_cast<int>(of) * 2 + (is_dark(palette) ? 1 : 0);
    auto const known = icons.constFind(key);
    return known != icons.constEnd() ? *known : *icons.insert(key, severity_icon(of, palette));
}

}  // namespace

void severity_delegate::initStyleOption(QStyleOptionViewItem* option, QModelIndex const& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    auto const severity = index.data(severity_role);
    if (index.column() != column_ || !severity.isValid()) return;
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->icon = cached_icon(static_cast<findings::severity>(severity.toInt()), option->palette);
    option->decorationSize = {12, 12};
}

QSize severity_delegate::sizeHint(QStyleOptionViewItem const& option, QModelIndex const& index) const {
    auto const least = QStyledItemDelegate::sizeHint(option, index);
    return {least.width() + 8, std::max(least.height(), option.fontMetrics.height()) + 6};
}

}  // namespace lastref::gui
