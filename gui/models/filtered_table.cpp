#include "gui/models/filtered_table.h"

#include <utility>

namespace lastref::gui {

filtered_table::filtered_table(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(sort_role);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void filtered_table::show(std::unique_ptr<table> shown) {
    known_ = shown ? shown->filters() : std::vector<filter_kind>{};
    auto const old = std::exchange(table_, std::move(shown));  // lives until the proxy has let go of it
    setSourceModel(table_.get());
}

void filtered_table::set_filters(filter_stack const& filters) {
    if (filters == filters_) return;
    filters_ = filters;
    invalidateFilter();
}

void filtered_table::set_search(QString const& text) {
    if (text == search_) return;
    search_ = text;
    invalidateFilter();
}

bool filtered_table::found_in(int row) const {
    auto const* const from = sourceModel();
    for (int column = 0; column < from->columnCount(); ++column) {
        auto const text = from->index(row, column).data().toString();
        if (text.contains(search_, Qt::CaseInsensitive)) return true;
    }
    return false;
}

bool filtered_table::filterAcceptsRow(int row, QModelIndex const&) const {
    auto const* const from = static_cast<table const*>(sourceModel());  // show() sets no other
    return (filters_.empty() || filters_.accepts(from->facets_of(row), known_)) && (search_.isEmpty() || found_in(row));
}

}  // namespace lastref::gui
