// Rows of a table in groups: those that have the same text in one column, with sums. Without a column it shows the rows
// as they are, so that a view need not care.
#pragma once

#include <QAbstractItemModel>
#include <QMetaObject>

#include <optional>
#include <vector>

namespace lastref::gui {

class group_model : public QAbstractItemModel {
  public:
    explicit group_model(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

    void set_source(QAbstractItemModel* source);  // not owned; must outlive this
    void group_by(std::optional<int> column);
    std::optional<int> grouped_by() const { return column_; }

    bool is_group(QModelIndex const& index) const;
    QModelIndex to_source(QModelIndex const& index) const;  // none for a group
    QModelIndex from_source(int row, int column = 0) const;

    QModelIndex index(int row, int column, QModelIndex const& parent = {}) const override;
    QModelIndex parent(QModelIndex const& child) const override;
    int rowCount(QModelIndex const& parent = {}) const override;
    int columnCount(QModelIndex const& parent = {}) const override;
    QVariant data(QModelIndex const& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

  private:
    struct group {
        QString title;
        std::vector<int> rows;  // of the source
    };

    void rebuild();
    void make_groups();
    void order_groups();
    QVariant data_of_group(group const& of, int column, int role) const;
    QString text_of_group(group const& of, int column) const;
    std::uint64_t sum(group const& of, int column) const;
    QVariant worst(group const& of) const;

    QAbstractItemModel* source_ = nullptr;
    std::vector<QMetaObject::Connection> connections_;
    std::optional<int> column_;
    std::vector<group> groups_;
    int sorted_by_ = -1;
    Qt::SortOrder order_ = Qt::AscendingOrder;
};

}  // namespace lastref::gui
