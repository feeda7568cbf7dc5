// A page with one table: filter, search, grouping, and on the right what is chosen in full.
#pragma once

#include "gui/models/filtered_table.h"
#include "gui/models/group_model.h"
#include "gui/models/tables.h"
#include "gui/views/page.h"

#include <optional>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSplitter;

namespace lastref::gui {

class table_view;

class list_page : public page {
    Q_OBJECT

  public:
    struct grouping {
        QString title;
        std::optional<int> column;
    };

    list_page(QString const& name, QString const& nothing, std::vector<grouping> const& groupings, QWidget* parent);

    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    void set_search(QString const& text) override;
    QAbstractItemModel const* exported() const override { return &groups_; }
    int rows() const override { return filtered_.rowCount(); }

    void group_by(int number);  // of the grouping
    table_view& view() { return *view_; }

  protected:
    virtual table_pointer make_table(trace_pointer const& trace) const = 0;
    virtual void row_chosen(std::optional<std::size_t> row) = 0;  // of the trace's vector

    trace_pointer const& trace() const { return trace_; }
    std::optional<std::size_t> chosen() const { return chosen_; }
    void choose_row(std::size_t row);
    void add_details(QWidget* details);
    void add_below(QWidget* widget, int percent);  // of the height
    void add_above(QWidget* widget);               // beside the grouping

  private:
    QWidget* make_list(std::vector<grouping> const& groupings);
    void take_current(QModelIndex const& index);
    void restore();
    void tell_count();
    void offer(class QMenu& menu, QModelIndex const& index);

    trace_pointer trace_;
    filtered_table filtered_;
    group_model groups_;
    std::vector<grouping> groupings_;
    QString nothing_;  // what is said of an empty list
    table_view* view_;
    QComboBox* group_box_;
    QLabel* count_;
    QHBoxLayout* above_;
    QSplitter* whole_;
    QSplitter* splitter_;
    std::optional<std::size_t> chosen_;
    bool restoring_ = false;
    bool fitted_ = false;
};

}  // namespace lastref::gui
