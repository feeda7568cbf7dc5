#include "gui/views/table_view.h"

#include "gui/models/export.h"
#include "gui/views/colours.h"
#include "gui/views/severity_delegate.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>

#include <algorithm>
#include <numeric>

namespace lastref::gui {
namespace {

// Takes what is missing from the widest of the columns from `first` on, none below `least`. Returns what is still
// missing.
int shrink(std::vector<int>& widths, std::size_t first, std::size_t last, int least, int missing) {
    auto const begin = widths.begin() + static_cast<std::ptrdiff_t>(std::min(first, widths.size()));
    auto const end = widths.begin() + static_cast<std::ptrdiff_t>(std::min(last, widths.size()));
    while (missing > 0 && begin != end) {
        auto const widest = std::max_element(begin, end);
        if (*widest <= least) break;
        int next = least;  // the second widest: below it they give way together
        for (auto each = begin; each != end; ++each)
            if (each != widest) next = std::max(next, *each);
        auto const by = std::clamp(std::max(*widest - next, 8), 1, std::min(missing, *widest - least));
        *widest -= by;
        missing -= by;
    }
    return missing;
}

}  // namespace

table_view::table_view(QString const& name, QWidget* parent) : QTreeView(parent) {
    setAccessibleName(name);
    setUniformRowHeights(true);
    setAlternatingRowColors(true);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTextElideMode(Qt::ElideRight);
    setItemDelegate(new severity_delegate(this));
    header()->setStretchLastSection(true);
    header()->setSectionsMovable(true);
    connect(header(), &QHeaderView::sectionResized, this, [this] {
        if (!sharing_ && (QGuiApplication::mouseButtons() & Qt::LeftButton) != 0 && header()->underMouse())
            by_hand_ = true;
    });
}

void table_view::fit_columns() {
    natural_.clear();
    if (model() == nullptr) return;
    for (int column = 0; column < model()->columnCount(); ++column)
        natural_.push_back(std::max({sizeHintForColumn(column), header()->sectionSizeHint(column), 60}));
    share_out();
}

void table_view::share_out() {
    constexpr int least = 200;  // a place with its file
    // The words that name the row: where the rest has to be scrolled to anyway, most of what is seen.
    auto const least_of_first = std::max(240, viewport()->width() * 11 / 20);
    if (by_hand_ || natural_.empty() || static_cast<int>(natural_.size()) != header()->count()) return;
    auto widths = natural_;
    for (std::size_t i = 0; i < widths.size(); ++i)
        if (isColumnHidden(static_cast<int>(i))) widths[i] = 0;
    auto missing = std::accumulate(widths.begin(), widths.end(), 0) - viewport()->width();
    missing = shrink(widths, 1, widths.size(), least, missing);
    shrink(widths, 0, 1, least_of_first, missing);
    sharing_ = true;
    for (std::size_t i = 0; i < widths.size(); ++i)
        if (widths[i] > 0) setColumnWidth(static_cast<int>(i), widths[i]);
    sharing_ = false;
}

void table_view::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    share_out();
}

void table_view::set_nothing(QString const& words) {
    nothing_ = words;
    setAccessibleDescription(words);
    viewport()->update();
}

void table_view::paintEvent(QPaintEvent* event) {
    QTreeView::paintEvent(event);
    if (nothing_.isEmpty() || (model() != nullptr && model()->rowCount() > 0)) return;
    QPainter painter(viewport());
    painter.setPen(faint_text(palette()));
    painter.drawText(viewport()->rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap, nothing_);
}

void table_view::copy() const {
    if (selectionModel() == nullptr) return;
    auto rows = selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    if (!rows.isEmpty()) QGuiApplication::clipboard()->setText(tab_separated(rows));
}

void table_view::contextMenuEvent(QContextMenuEvent* event) {
    bool const by_key = event->reason() == QContextMenuEvent::Keyboard;
    auto const index = by_key ? currentIndex() : indexAt(event->pos());
    if (!index.isValid()) return;
    QMenu menu(this);
    if (offers_) offers_(menu, index);
    if (!menu.isEmpty()) menu.addSeparator();
    menu.addAction(QCoreApplication::translate("table_view", "Copy rows"), QKeySequence::Copy, this, &table_view::copy);
    menu.exec(by_key ? viewport()->mapToGlobal(visualRect(index).bottomLeft()) : event->globalPos());
}

void table_view::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        copy();
    else
        QTreeView::keyPressEvent(event);
}

}  // namespace lastref::gui
