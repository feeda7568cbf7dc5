#include "gui/views/calls_page.h"

#include "gui/models/filter_offers.h"
#include "gui/models/words.h"
#include "gui/views/call_details.h"
#include "gui/views/call_table.h"
#include "gui/views/rich_text.h"

#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {

calls_page::calls_page(QWidget* parent)
    : page(parent),
      view_(new call_table(tr("Calls"), calls_, this)),
      count_(new QLabel(this)),
      details_(new call_details(this)) {
    set_up_view();
    pass_on(*details_, static_cast<page*>(this));
    auto* const splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(view_);
    splitter->addWidget(details_);
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({7600, 2400});
    splitter->setObjectName(QStringLiteral("details"));
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    count_->setContentsMargins(8, 8, 8, 0);
    layout->addWidget(count_);
    layout->addWidget(splitter);
}

void calls_page::set_up_view() {
    auto* const header = view_->horizontalHeader();
    header->setSectionsClickable(true);
    header->setSortIndicatorShown(true);
    header->setSortIndicator(0, Qt::AscendingOrder);
    connect(header, &QHeaderView::sectionClicked, this, &calls_page::sort_by);
    view_->set_offers([this](QMenu& menu, store::event const& e) { offer(menu, e); });
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](QModelIndex const& now) { take_current(now.row()); });
}

QString calls_page::title() const {
    return tr("Calls");
}

void calls_page::show_trace(trace_pointer const& trace) {
    if (!trace_ || !trace || trace_->path != trace->path) chosen_ = {};
    trace_ = trace;
    ask();
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
    view_->choose(event);
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

void calls_page::offer(QMenu& menu, store::event const& e) {
    if (!trace_) return;
    add_offers(menu, calls_.facets_of(e), *trace_);
    auto const around = time_filter(std::max<store::time_ns>(e.begin - 1'000'000, 0), e.end() + 1'000'000);
    menu.addAction(tr("Show only %1").arg(around.label), this, [this, around] { Q_EMIT filter_asked(around); });
}

}  // namespace lastref::gui
