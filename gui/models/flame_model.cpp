#include "gui/models/flame_model.h"

#include "gui/models/words.h"

#include <algorithm>

namespace lastref::gui {

void flame_model::show(std::shared_ptr<scenes::flame const> flame) {
    beginResetModel();
    flame_ = std::move(flame);
    endResetModel();
}

std::uint32_t flame_model::node_of(QModelIndex const& index) const {
    return index.isValid() ? static_cast<std::uint32_t>(index.internalId()) : 0;
}

QModelIndex flame_model::index(int row, int column, QModelIndex const& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, quintptr{flame_->nodes[node_of(parent)].first_child + static_cast<quintptr>(row)});
}

QModelIndex flame_model::parent(QModelIndex const& child) const {
    if (!child.isValid()) return {};
    auto const above = flame_->nodes[node_of(child)].parent;
    if (above == 0) return {};
    auto const first = flame_->nodes[flame_->nodes[above].parent].first_child;
    return createIndex(static_cast<int>(above - first), 0, quintptr{above});
}

int flame_model::rowCount(QModelIndex const& parent) const {
    if (!flame_ || flame_->nodes.empty() || parent.column() > 0) return 0;
    return static_cast<int>(flame_->nodes[node_of(parent)].children);
}

int flame_model::columnCount(QModelIndex const&) const {
    return static_cast<int>(flame_column::count);
}

// What no function below it allocated.
std::uint64_t flame_model::own_bytes(std::uint32_t node) const {
    auto const& n = flame_->nodes[node];
    auto out = n.bytes;
    for (std::uint32_t i = 0; i < n.children; ++i) out -= std::min(out, flame_->nodes[n.first_child + i].bytes);
    return out;
}

QString flame_model::text(std::uint32_t node, flame_column column) const {
    auto const& n = flame_->nodes[node];
    switch (column) {
        case flame_column::function:
            return place_text(flame_->name_of(node));
        case flame_column::bytes:
            return bytes_text(n.bytes);
        case flame_column::share: {
            auto const all = static_cast<double>(std::max<std::uint64_t>(flame_->nodes.front().bytes, 1));
            return QStringLiteral("%1 %").arg(100.0 * static_cast<double>(n.bytes) / all, 0, 'f', 1);
        }
        case flame_column::own_bytes:
            return bytes_text(own_bytes(node));
        case flame_column::allocations:
            return count_text(n.count);
        case flame_column::count:
            break;
    }
    return {};
}

QVariant flame_model::data(QModelIndex const& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    auto const column = static_cast<flame_column>(index.column());
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return text(node_of(index), column);
    if (role == Qt::TextAlignmentRole && column != flame_column::function)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    return {};
}

QVariant flame_model::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(section == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (static_cast<flame_column>(section)) {
        case flame_column::function:
            return tr("Function");
        case flame_column::bytes:
            return tr("Bytes");
        case flame_column::share:
            return tr("Share");
        case flame_column::own_bytes:
            return tr("By itself");
        case flame_column::allocations:
            return tr("Allocations");
        case flame_column::count:
            break;
    }
    return {};
}

}  // namespace lastref::gui
