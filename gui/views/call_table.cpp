#include "gui/views/call_table.h"

#include "gui/models/export.h"
#include "gui/views/severity_delegate.h"

#include <QAction>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>

#include <algorithm>

namespace lastref::gui {

call_table::call_table(QString const& name, call_model& model, QWidget* parent) : QTableView(parent), calls_(model) {
    setAccessibleName(name);
    setModel(&calls_);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setAlternatingRowColors(true);
    setShowGrid(false);
    setItemDelegate(new severity_delegate(this, static_cast<int>(call_column::result)));
    setWordWrap(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setTextElideMode(Qt::ElideMiddle);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(true);
    auto* const copies = new QAction(QCoreApplication::translate("call_table", "Copy rows"), this);
    copies->setShortcut(QKeySequence::Copy);
    copies->setShortcutContext(Qt::WidgetShortcut);
    addAction(copies);
    connect(copies, &QAction::triggered, this, &call_table::copy);
    fit_columns();
}

// By what usually stands in them: looking at every row is out of the question.
void call_table::fit_columns() {
    using sample = std::pair<call_column, QString>;
    auto const handle = QStringLiteral("0x7f0000000000");
    std::initializer_list<sample> const samples{{call_column::at, QStringLiteral("0000.000000 s")},
                                                {call_column::call, QStringLiteral("cuGraphRetainUserObject_ptsz")},
                                                {call_column::result, QStringLiteral("CUDA_ERROR_INVALID… (201)")},
                                                {call_column::duration, QStringLiteral("00000 µs")},
                                                {call_column::thread, QStringLiteral("worker-thread (00000)")},
                                                {call_column::stream, handle},
                                                {call_column::object, handle},
                                                {call_column::size, QStringLiteral("00,000,000")},
                                                {call_column::other, handle},
                                                {call_column::context, handle},
                                                {call_column::process, QStringLiteral("program (pid 00000)")}};
    for (auto const& [column, text] : samples)
        setColumnWidth(static_cast<int>(column), fontMetrics().horizontalAdvance(text) + 16);
}

void call_table::choose(store::event_id event) {
    auto const row = calls_.row_of(event);
    if (row < 0) return;
    setCurrentIndex(calls_.index(row, 0));
    scrollTo(calls_.index(row, 0), QAbstractItemView::PositionAtCenter);
}

void call_table::contextMenuEvent(QContextMenuEvent* event) {
    bool const by_key = event->reason() == QContextMenuEvent::Keyboard;
    auto const index = by_key ? currentIndex() : indexAt(event->pos());
    auto const* const e = calls_.event_at(index.row());
    if (!index.isValid() || e == nullptr) return;
    QMenu menu(this);
    if (offers_) offers_(menu, *e);
    if (!menu.isEmpty()) menu.addSeparator();
    menu.addActions(actions());
    menu.exec(by_key ? viewport()->mapToGlobal(visualRect(index).bottomLeft()) : event->globalPos());
}

// So many rows as a person may want in a clipboard; the rest is for the export.
void call_table::copy() const {
    constexpr qsizetype most = 100'000;
    auto rows = selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    if (rows.size() > most) rows.resize(most);
    if (!rows.isEmpty()) QGuiApplication::clipboard()->setText(tab_separated(rows));
}

}  // namespace lastref::gui
