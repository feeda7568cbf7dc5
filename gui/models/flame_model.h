// Allocations by call stack as a tree: functions with what was allocated below them and by themselves.
#pragma once

#include "gui/scenes/flame.h"

#include <QAbstractItemModel>

#include <memory>

namespace lastref::gui {

enum class flame_column { function, bytes, share, own_bytes, allocations, count };

class flame_model : public QAbstractItemModel {
    Q_OBJECT

  public:
    explicit flame_model(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

    void show(std::shared_ptr<scenes::flame const> flame);  // null: nothing

    QModelIndex index(int row, int column, QModelIndex const& parent = {}) const override;
    QModelIndex parent(QModelIndex const& child) const override;
    int rowCount(QModelIndex const& parent = {}) const override;
    int columnCount(QModelIndex const& parent = {}) const override;
    QVariant data(QModelIndex const& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    std::uint32_t node_of(QModelIndex const& index) const;  // the root for none
    std::uint64_t own_bytes(std::uint32_t node) const;
    QString text(std::uint32_t node, flame_column column) const;

    std::shared_ptr<scenes::flame const> flame_;
};

}  // namespace lastref::gui
