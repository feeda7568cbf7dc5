#include "gui/views/calls_page.h"

#include "gui/models/export.h"
#include "gui/models/filter_offers.h"
#include "gui/models/words.h"
#include "gui/views/call_details.h"
#include "gui/views/severity_delegate.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {

calls_page::calls_page(QWidget* parent)
    : page(parent), view_(new QTableView(this)), count_(new QLabel(this)), details_(new call_details(this)) {
    set_up_view();
    connect(details_, &call_details::told, this, &page::told);
    auto* const splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(view_);
    splitter->addWidget(details_);
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    count_->setContentsMargins(8, 8, 8, 0);
    layout->addWidget(count_);
    layout->addWidget(splitter);
}

// A table, not a tree: it lays out rows without an entry for each of ten million.
void calls_page::set_up_view() {
    view_->setAccessibleName(tr("Calls"));
    view_->setModel(&calls_);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->setAlternatingRowColors(true);
    view_->setShowGrid(false);
    view_->setItemDelegate(new severity_delegate(view_, static_cast<int>(call_column::result)));
    view_->setWordWrap(false);
    view_->setTabKeyNavigation(false);
    view_->setTextElideMode(Qt::ElideMiddle);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    view_->verticalHeader()->hide();
    view_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view_->verticalHeader()->setDefaultSectionSize(view_->fontMetrics().height() + 6);
    view_->horizontalHeader()->setSectionsClickable(true);
    view_->horizontalHeader()->setHighlightSections(false);
    view_->horizontalHeader()->setSortIndicatorShown(true);
    view_->horizontalHeader()->setSortIndicator(0, Qt::AscendingOrder);
    view_->horizontalHeader()->setStretchLastSection(true);
    auto* const copies = new QAction(tr("Copy rows"), view_);
    copies->setShortcut(QKeySequence::Copy);
    copies->setShortcutContext(Qt::WidgetShortcut);
    view_->addAction(copies);
    connect(copies, &QAction::triggered, this, &calls_page::copy);
    connect(view_->horizontalHeader(), &QHeaderView::sectionClicked, this, &calls_page::sort_by);
    connect(view_, &QWidget::customContextMenuRequested, this, &calls_page::offer);
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](QModelIndex const& now) { take_current(now.row()); });
}

QString calls_page::title() const {
    return tr("Calls");
}

void calls_page::show_trace(trace_pointer const& trace) {
    if (!trace_ || !trace || trace_->path != trace->path) chosen_ = {};
    bool const first = calls_.source() == nullptr;
    trace_ = trace;
    ask();
    if (first) fit_columns();
}

// By what usually stands in them: looking at every row is out of the question.
void calls_page::fit_columns() {
    using sample = std::pair<call_column, QString>;
    auto const handle = QStringLiteral("0x7f0000000000");
    std::initializer_list<sample> const samples{
        {call_column::at, QStringLiteral("0000.000000 s")},
        {call_column::call, QStringLiteral("cuGraphRetainUserObject_ptsz")},
        {call_column::result, QStringLiteral("CUDA_ERROR_INVALID_CONTEXT (201)")},
        {call_column::duration, QStringLiteral("00000 µs")},
        {call_column::thread, QStringLiteral("worker-thread (00000)")},
        {call_column::stream, handle},
        {call_column::object, handle},
        {call_column::size, QStringLiteral("00,000,000")},
        {call_column::other, handle},
        {call_column::context, handle},
        {call_column::process, QStringLiteral("program (pid 00000)")}};
    for (auto const& [column, text] : samples)
        view_->setColumnWidth(static_cast<int>(column), view_->fontMetrics().horizontalAdvance(text) + 16);
}

void calls_page::set_filters(filter_stack const& filters) {
    if (filters == query_.filters) return;
    query_.filters = filters;
    ask();
}

void calls_page::set_search(QString const& text) {
    if (text.toStdString() == query_.text) return;
    query_.text = text.toStdString();
    ask();
}

void calls_page::ask() {
    search_.cancel();
    if (!trace_ || query_.is_everything()) {
        show_list(nullptr);
        return;
    }
    count_->setText(tr("searching …"));
    search_.start([this, from = trace_, query = query_](std::atomic<bool> const& stopped) -> background::continuation {
        try {
            auto const found = find_calls(*from, query, stopped);
            return [this, found] { show_list(found); };
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { count_->setText(problem); };
        }
    });
}

void calls_page::show_list(call_source::event_list list) {
    try {
        calls_.show(trace_ ? std::make_unique<call_source>(trace_, std::move(list)) : nullptr);
    } catch (store::error const& e) {
        calls_.show(nullptr);
        count_->setText(QString::fromUtf8(e.what()));
        return;
    }
    tell_count();
    restore();
}

void calls_page::tell_count() {
    auto const shown = static_cast<std::uint64_t>(calls_.rowCount());
    auto const all = trace_ ? static_cast<std::uint64_t>(trace_->calls.rows()) : 0;
    count_->setText(shown == all ? tr("%1 calls and callbacks").arg(count_text(all))
                                 : tr("%1 of %2 calls and callbacks").arg(count_text(shown), count_text(all)));
}

void calls_page::restore() {
    if (chosen_) choose_event(chosen_);
    if (!view_->currentIndex().isValid()) details_->show_call(trace_, {});
}

void calls_page::choose_event(store::event_id event) {
    chosen_ = event;
    auto const row = calls_.row_of(event);
    if (row < 0) return;
    view_->setCurrentIndex(calls_.index(row, 0));
    view_->scrollTo(calls_.index(row, 0), QAbstractItemView::PositionAtCenter);
}

void calls_page::sort_by(int column) {
    auto* const header = view_->horizontalHeader();
    if (!can_sort(static_cast<call_column>(column))) {
        header->setSortIndicator(static_cast<int>(query_.order),
                                 query_.descending ? Qt::DescendingOrder : Qt::AscendingOrder);
        return;
    }
    bool const again = query_.order == static_cast<call_column>(column);
    query_.descending = again && !query_.descending;
    query_.order = static_cast<call_column>(column);
    header->setSortIndicator(column, query_.descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    ask();
}

void calls_page::take_current(int row) {
    auto const* e = calls_.event_at(row);
    if (e == nullptr || !trace_) return;
    chosen_ = e->id;
    details_->show_call(trace_, chosen_);
}

void calls_page::offer(QPoint const& at) {
    auto const index = view_->indexAt(at);
    auto const* e = calls_.event_at(index.row());
    if (!index.isValid() || e == nullptr || !trace_) return;
    QMenu menu(this);
    for (auto const& each : filters_for(calls_.facets_of(*e), *trace_))
        menu.addAction(tr("Show only %1").arg(each.label), this, [this, each] { Q_EMIT filter_asked(each); });
    auto const around = time_filter(std::max<store::time_ns>(e->begin - 1'000'000, 0), e->end() + 1'000'000);
    menu.addAction(tr("Show only %1").arg(around.label), this, [this, around] { Q_EMIT filter_asked(around); });
    menu.addSeparator();
    menu.addAction(tr("Copy rows"), QKeySequence::Copy, this, &calls_page::copy);
    menu.exec(view_->viewport()->mapToGlobal(at));
}

// So many rows as a person may want in a clipboard; the rest is for the export.
void calls_page::copy() const {
    constexpr qsizetype most = 100'000;
    auto rows = view_->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    if (rows.size() > most) rows.resize(most);
    if (!rows.isEmpty()) QGuiApplication::clipboard()->setText(tab_separated(rows));
}

}  // namespace lastref::gui
