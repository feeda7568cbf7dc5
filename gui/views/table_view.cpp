#include "gui/views/table_view.h"

#include "gui/models/export.h"
#include "gui/views/severity_delegate.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>

namespace lastref::gui {

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
}

void table_view::fit_columns(int widest) {
    if (model() == nullptr) return;
    for (int column = 0; column + 1 < model()->columnCount(); ++column) {
        resizeColumnToContents(column);
        setColumnWidth(column, std::clamp(columnWidth(column), 60, widest));
    }
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
