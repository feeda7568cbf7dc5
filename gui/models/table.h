// Tables of rows that never change: columns are said in one place, as functions of a row.
#pragma once

#include "gui/models/filter.h"
#include "gui/models/roles.h"

#include <QAbstractTableModel>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lastref::gui {

enum class sum_of : std::uint8_t { nothing, count, bytes };

// A table whose rows say what they can be filtered by.
class table : public QAbstractTableModel {
  public:
    using QAbstractTableModel::QAbstractTableModel;
    virtual facets facets_of(int row) const = 0;
    virtual std::vector<filter_kind> filters() const = 0;  // that its rows know of
};

template <class Row>
struct column {
    using text_function = std::function<QString(Row const&)>;
    using key_function = std::function<QVariant(Row const&)>;

    column(QString called, text_function says) : title(std::move(called)), text(std::move(says)) {}
    column(QString called, text_function says, key_function by, bool to_the_right = false,
           sum_of added = sum_of::nothing)
        : title(std::move(called)), text(std::move(says)), key(std::move(by)), number(to_the_right), sum(added) {}

    QString title;
    text_function text;
    key_function key;              // to sort by; the text where there is none
    bool number = false;           // stands to the right
    sum_of sum = sum_of::nothing;  // in groups, of `key`
};

template <class Row>
class table_of : public table {
  public:
    using columns = std::vector<column<Row>>;
    struct description {
        columns shown;
        std::function<facets(Row const&)> facets_of;
        std::vector<filter_kind> filters;
        std::function<int(Row const&)> severity;
        std::function<qint64(Row const&)> event;
    };

    // `owner` keeps the rows alive.
    table_of(std::shared_ptr<void const> owner, std::vector<Row> const& rows, description what)
        : owner_(std::move(owner)), rows_(rows), what_(std::move(what)) {}

    int rowCount(QModelIndex const& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    int columnCount(QModelIndex const& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(what_.shown.size());
    }

    QVariant data(QModelIndex const& index, int role) const override {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
        auto const& row = rows_[static_cast<std::size_t>(index.row())];
        auto const& shown = what_.shown[static_cast<std::size_t>(index.column())];
        switch (role) {
            case Qt::DisplayRole:
            case Qt::ToolTipRole:
                return shown.text(row);
            case Qt::TextAlignmentRole:
                return alignment(shown);
            case sort_role:
                return shown.key ? shown.key(row) : QVariant(shown.text(row));
            case severity_role:
                return what_.severity ? QVariant(what_.severity(row)) : QVariant();
            case event_role:
                return what_.event ? QVariant(what_.event(row)) : QVariant();
            case row_role:
                return index.row();
            default:
                return {};
        }
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        bool const known = section >= 0 && section < static_cast<int>(what_.shown.size());
        if (orientation != Qt::Horizontal || !known) return {};
        auto const& shown = what_.shown[static_cast<std::size_t>(section)];
        if (role == Qt::DisplayRole) return shown.title;
        if (role == Qt::TextAlignmentRole) return alignment(shown);
        if (role == sum_role) return static_cast<int>(shown.sum);
        return {};
    }

    facets facets_of(int row) const override {
        return what_.facets_of ? what_.facets_of(rows_[static_cast<std::size_t>(row)]) : facets{};
    }
    std::vector<filter_kind> filters() const override { return what_.filters; }

  private:
    static QVariant alignment(column<Row> const& shown) {
        return QVariant::fromValue(Qt::Alignment(shown.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }

    std::shared_ptr<void const> owner_;
    std::vector<Row> const& rows_;
    description what_;
};

}  // namespace lastref::gui
