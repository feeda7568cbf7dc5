#include "gui/views/overview_delegate.h"

#include "gui/models/roles.h"
#include "gui/views/colours.h"

#include <QApplication>
#include <QPainter>

namespace lastref::gui {
namespace {

constexpr int margin = 10, sign = 14;

QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

}  // namespace

void overview_delegate::paint(QPainter* painter, QStyleOptionViewItem const& option, QModelIndex const& index) const {
    auto const& palette = option.palette;
    auto const* const style = option.widget ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
    bool const selected = option.state.testFlag(QStyle::State_Selected);
    auto const severity = index.data(severity_role);
    auto const inside = option.rect.adjusted(margin, margin / 2, -margin, -margin / 2);
    if (severity.isValid())
        severity_icon(static_cast<findings::severity>(severity.toInt()), palette)
            .paint(painter, inside.left(), inside.top() + 2, sign, sign, Qt::AlignCenter,
                   selected ? QIcon::Selected : QIcon::Normal);
    auto text = inside.adjusted(sign + margin, 0, 0, 0);
    painter->save();
    auto const line = option.fontMetrics.height();
    painter->setFont(bold(option.font));
    painter->setPen(palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
    auto const title = QFontMetrics(painter->font()).elidedText(index.data().toString(), Qt::ElideRight, text.width());
    painter->drawText(text, Qt::AlignTop | Qt::AlignLeft, title);
    text.setTop(text.top() + line + 2);
    painter->setFont(option.font);
    painter->setPen(selected ? palette.color(QPalette::HighlightedText) : faint_text(palette));
    painter->drawText(text, Qt::AlignTop | Qt::AlignLeft,
                      option.fontMetrics.elidedText(index.data(detail_role).toString(), Qt::ElideRight, text.width()));
    painter->restore();
}

QSize overview_delegate::sizeHint(QStyleOptionViewItem const& option, QModelIndex const&) const {
    return {200, 2 * option.fontMetrics.height() + 2 + margin};
}

}  // namespace lastref::gui
