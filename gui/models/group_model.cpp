#include "gui/models/group_model.h"

#include "gui/models/table.h"
#include "gui/models/words.h"

#include <QHash>

#include <algorithm>

namespace lastref::gui {

// Indices of groups carry 0, those of rows in groups the number of their group from 1 on; without groups all carry 0.

void group_model::set_source(QAbstractItemModel* source) {
    for (auto const& each : connections_) disconnect(each);
    connections_.clear();
    source_ = source;
    if (source_ != nullptr) {
        auto const changed = [this] { rebuild(); };
        connections_ = {connect(source_, &QAbstractItemModel::modelReset, this, changed),
                        connect(source_, &QAbstractItemModel::layoutChanged, this, changed),
                        connect(source_, &QAbstractItemModel::rowsInserted, this, changed),
                        connect(source_, &QAbstractItemModel::rowsRemoved, this, changed)};
    }
    rebuild();
}

void group_model::group_by(std::optional<int> column) {
    if (column == column_) return;
    column_ = column;
    rebuild();
}

void group_model::rebuild() {
    beginResetModel();
    groups_.clear();
    if (source_ != nullptr && column_) {
        make_groups();
        order_groups();
    }
    endResetModel();
}

void group_model::make_groups() {
    QHash<QString, std::size_t> known;
    for (int row = 0; row < source_->rowCount(); ++row) {
        auto const title = source_->index(row, *column_).data().toString();
        auto const place = known.constFind(title);
        auto const number = place == known.constEnd() ? groups_.size() : *place;
        if (number == groups_.size()) {
            groups_.push_back({title, {}});
            known.insert(title, number);
        }
        groups_[number].rows.push_back(row);
    }
}

// By what is added up; else groups stand as their first rows do.
void group_model::order_groups() {
    auto const kind = sorted_by_ < 0 ? QVariant() : headerData(sorted_by_, Qt::Horizontal, sum_role);
    if (kind.toInt() == static_cast<int>(sum_of::nothing)) return;
    std::vector<std::pair<std::uint64_t, group>> keyed;
    for (auto& each : groups_) {
        auto const key = sum(each, sorted_by_);
        keyed.emplace_back(key, std::move(each));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [this](auto const& a, auto const& b) {
        return order_ == Qt::AscendingOrder ? a.first < b.first : a.first > b.first;
    });
    groups_.clear();
    for (auto& [key, each] : keyed) groups_.push_back(std::move(each));
}

void group_model::sort(int column, Qt::SortOrder order) {
    sorted_by_ = column;
    order_ = order;
    if (source_ == nullptr) return;
    source_->sort(column, order);
    rebuild();  // the source tells of no change where it was in this order already
}

bool group_model::is_group(QModelIndex const& index) const {
    return column_ && index.isValid() && index.internalId() == 0;
}

QModelIndex group_model::to_source(QModelIndex const& index) const {
    if (source_ == nullptr || !index.isValid() || is_group(index)) return {};
    if (!column_) return source_->index(index.row(), index.column());
    return source_->index(groups_[index.internalId() - 1].rows[static_cast<std::size_t>(index.row())], index.column());
}

QModelIndex group_model::from_source(int row, int column) const {
    if (!column_) return index(row, column);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        auto const& rows = groups_[i].rows;
        auto const place = std::find(rows.begin(), rows.end(), row);
        if (place != rows.end())
            return index(static_cast<int>(place - rows.begin()), column, index(static_cast<int>(i), 0));
    }
    return {};
}

QModelIndex group_model::index(int row, int column, QModelIndex const& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex group_model::parent(QModelIndex const& child) const {
    if (!child.isValid() || child.internalId() == 0) return {};
    return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int group_model::rowCount(QModelIndex const& parent) const {
    if (source_ == nullptr || parent.column() > 0) return 0;
    if (!parent.isValid()) return column_ ? static_cast<int>(groups_.size()) : source_->rowCount();
    return is_group(parent) ? static_cast<int>(groups_[static_cast<std::size_t>(parent.row())].rows.size()) : 0;
}

int group_model::columnCount(QModelIndex const&) const {
    return source_ == nullptr ? 0 : source_->columnCount();
}

QVariant group_model::data(QModelIndex const& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (is_group(index)) return data_of_group(groups_[static_cast<std::size_t>(index.row())], index.column(), role);
    return to_source(index).data(role);
}

QVariant group_model::data_of_group(group const& of, int column, int role) const {
    switch (role) {
        case Qt::DisplayRole:
        case Qt::ToolTipRole:
            return text_of_group(of, column);
        case Qt::TextAlignmentRole:
            return headerData(column, Qt::Horizontal, role);
        case severity_role:
            return worst(of);
        default:
            return {};
    }
}

QString group_model::text_of_group(group const& of, int column) const {
    if (column == 0)
        return QStringLiteral("%1 (%2)").arg(of.title.isEmpty() ? QStringLiteral("–") : of.title).arg(of.rows.size());
    switch (static_cast<sum_of>(headerData(column, Qt::Horizontal, sum_role).toInt())) {
        case sum_of::count:
            return count_text(sum(of, column));
        case sum_of::bytes:
            return bytes_text(sum(of, column));
        case sum_of::nothing:
            break;
    }
    return {};
}

std::uint64_t group_model::sum(group const& of, int column) const {
    std::uint64_t out = 0;
    for (auto const row : of.rows) out += source_->index(row, column).data(sort_role).toULongLong();
    return out;
}

QVariant group_model::worst(group const& of) const {
    QVariant out;
    for (auto const row : of.rows) {
        auto const one = source_->index(row, 0).data(severity_role);
        if (one.isValid() && (!out.isValid() || one.toInt() > out.toInt())) out = one;
    }
    return out;
}

QVariant group_model::headerData(int section, Qt::Orientation orientation, int role) const {
    return source_ == nullptr ? QVariant() : source_->headerData(section, orientation, role);
}

}  // namespace lastref::gui
