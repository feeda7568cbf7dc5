// All calls of a trace, one a row. Rows are read when they are looked at; their number is known from the start.
#pragma once

#include "gui/loader/call_source.h"
#include "gui/models/filter.h"

#include <QAbstractTableModel>

#include <memory>

namespace lastref::gui {

enum class call_column {
    at,
    call,
    result,
    duration,
    thread,
    stream,
    object,
    size,
    other,
    context,
    process,
    event,
    count
};

class call_model : public QAbstractTableModel {
  public:
    explicit call_model(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void show(std::unique_ptr<call_source> source);  // null: nothing
    call_source const* source() const { return source_.get(); }

    store::event const* event_at(int row) const;
    int row_of(store::event_id id) const;  // -1 where it is not listed
    facets facets_of(store::event const& e) const;

    int rowCount(QModelIndex const& parent = {}) const override;
    int columnCount(QModelIndex const& parent = {}) const override;
    QVariant data(QModelIndex const& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    QString text(store::event const& e, call_column column) const;
    QString thread_text(store::event const& e) const;
    QString process_text(store::event const& e) const;

    std::unique_ptr<call_source> source_;
};

// What a call can be filtered by.
facets facets_of_call(store::event const& e, loaded_trace const& in);
std::vector<filter_kind> filters_of_calls();

}  // namespace lastref::gui
