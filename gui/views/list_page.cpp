#include "gui/views/list_page.h"

#include "gui/models/words.h"
#include "gui/views/table_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

QString rows_text(int rows) {
    return rows == 1 ? list_page::tr("1 row")
                     : list_page::tr("%1 rows").arg(count_text(static_cast<std::uint64_t>(rows)));
}

}  // namespace

list_page::list_page(QString const& name, QString const& nothing, std::vector<grouping> const& groupings,
                     QWidget* parent)
    : page(parent),
      groupings_(groupings),
      nothing_(nothing),
      view_(new table_view(name, this)),
      group_box_(new QComboBox(this)),
      count_(new QLabel(this)),
      above_(new QHBoxLayout),
      whole_(new QSplitter(Qt::Vertical, this)),
      splitter_(new QSplitter(Qt::Horizontal, whole_)) {
    groups_.set_source(&filtered_);
    view_->setModel(&groups_);
    view_->setSortingEnabled(true);
    view_->sortByColumn(-1, Qt::DescendingOrder);  // the order of the trace until a user chooses another
    view_->set_offers([this](QMenu& menu, QModelIndex const& index) { offer(menu, index); });
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](QModelIndex const& now) { take_current(now); });
    connect(&groups_, &QAbstractItemModel::modelReset, this, &list_page::restore);

    splitter_->addWidget(make_list(groupings));
    splitter_->setChildrenCollapsible(false);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    whole_->setChildrenCollapsible(false);
    whole_->setObjectName(QStringLiteral("whole"));
    splitter_->setObjectName(QStringLiteral("list"));
    layout->addWidget(whole_);
}

QWidget* list_page::make_list(std::vector<grouping> const& groupings) {
    auto* const label = new QLabel(tr("&Group by"), this);
    label->setBuddy(group_box_);
    group_box_->setAccessibleName(tr("Group by"));
    for (auto const& each : groupings) group_box_->addItem(each.title);
    connect(group_box_, &QComboBox::currentIndexChanged, this, &list_page::group_by);
    bool const can_group = groupings.size() > 1;
    label->setVisible(can_group);
    group_box_->setVisible(can_group);

    above_->setContentsMargins(8, 8, 8, 0);
    above_->addWidget(label);
    above_->addWidget(group_box_);
    above_->addStretch();
    above_->addWidget(count_);

    auto* const list = new QWidget(this);
    auto* const layout = new QVBoxLayout(list);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(above_);
    layout->addWidget(view_);
    return list;
}

void list_page::add_above(QWidget* widget) {
    above_->insertWidget(above_->count() - 2, widget);
}

void list_page::add_details(QWidget* details) {
    splitter_->addWidget(details);
    splitter_->setStretchFactor(0, 1);
    splitter_->setStretchFactor(1, 1);
    splitter_->setSizes({5500, 4500});  // shares: the splitter scales them to its width
}

void list_page::add_below(QWidget* widget, int percent) {
    whole_->addWidget(widget);
    whole_->setSizes({100 * (100 - percent), 100 * percent});
}

void list_page::show_trace(trace_pointer const& trace) {
    auto const fresh = !trace_ || !trace || trace_->path != trace->path;
    if (fresh) chosen_.reset();
    trace_ = trace;
    filtered_.show(trace ? make_table(trace) : nullptr);
    if (fresh) row_chosen(std::nullopt);
    if (!fitted_ && filtered_.rowCount() > 0) {
        fitted_ = true;
        view_->fit_columns();
    }
}

void list_page::set_filters(filter_stack const& filters) {
    filtered_.set_filters(filters);
    restore();
}

void list_page::set_search(QString const& text) {
    filtered_.set_search(text);
    restore();
}

void list_page::group_by(int number) {
    if (group_box_->currentIndex() != number) group_box_->setCurrentIndex(number);
    groups_.group_by(groupings_[static_cast<std::size_t>(number)].column);
    if (fitted_) view_->fit_columns();
}

void list_page::take_current(QModelIndex const& index) {
    if (restoring_) return;
    auto const source = filtered_.mapToSource(groups_.to_source(index));
    if (!source.isValid()) return;
    chosen_ = static_cast<std::size_t>(source.row());
    row_chosen(chosen_);
}

// After every reset of the list: groups open where there are few, and what was chosen is chosen again.
void list_page::restore() {
    restoring_ = true;
    view_->setRootIsDecorated(groups_.grouped_by().has_value());
    // What the groups say need not be said again in each of their rows.
    for (auto const& each : groupings_)
        if (each.column) view_->setColumnHidden(*each.column, each.column == groups_.grouped_by() && *each.column != 0);
    if (groups_.grouped_by() && groups_.rowCount() <= 60 && filtered_.rowCount() <= 2000) view_->expandAll();
    if (chosen_ && filtered_.shown() != nullptr && static_cast<int>(*chosen_) < filtered_.shown()->rowCount()) {
        auto const row = filtered_.mapFromSource(filtered_.shown()->index(static_cast<int>(*chosen_), 0));
        auto const index = row.isValid() ? groups_.from_source(row.row()) : QModelIndex();
        if (index.isValid()) view_->setCurrentIndex(index);
    }
    restoring_ = false;
    tell_count();
    if (chosen_) row_chosen(chosen_);
}

void list_page::choose_row(std::size_t row) {
    chosen_ = row;
    restore();
    if (view_->currentIndex().isValid()) view_->scrollTo(view_->currentIndex());
}

void list_page::tell_count() {
    auto const all = filtered_.shown() ? filtered_.shown()->rowCount() : 0;
    auto const shown = filtered_.rowCount();
    view_->set_nothing(all == 0 ? nothing_ : tr("Filters and search leave nothing of %1").arg(rows_text(all)));
    if (all == 0)
        count_->setText(nothing_);
    else if (shown == all)
        count_->setText(rows_text(all));
    else
        count_->setText(
            tr("%1 of %2 rows")
                .arg(count_text(static_cast<std::uint64_t>(shown)), count_text(static_cast<std::uint64_t>(all))));
}

void list_page::offer(QMenu& menu, QModelIndex const& index) {
    auto const source = filtered_.mapToSource(groups_.to_source(index));
    if (!source.isValid() || !trace_) return;
    add_offers(menu, filtered_.shown()->facets_of(source.row()), *trace_);
    auto const event = source.data(event_role).toLongLong();
    if (event != 0) menu.addAction(tr("Show the call"), this, [this, event] { Q_EMIT event_asked(event); });
}

}  // namespace lastref::gui
