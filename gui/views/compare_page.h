// Two recordings side by side: what came, what went, what grew.
#pragma once

#include "analyzer/gate/difference.h"
#include "gui/loader/trace_loader.h"
#include "gui/models/filtered_table.h"
#include "gui/models/group_model.h"
#include "gui/views/page.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace lastref::gui {

class table_view;

class compare_page : public page {
    Q_OBJECT

  public:
    explicit compare_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::compare; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_search(QString const& text) override;
    QAbstractItemModel const* exported() const override { return &groups_; }
    int rows() const override { return filtered_.rowCount(); }

    void compare_with(QString const& earlier);  // a trace
    bool busy() const { return loader_.busy(); }
    QString summary() const;

  private:
    void choose();
    void take(trace_pointer const& earlier);
    void refresh();
    void show_progress(double share);
    void show_idle();
    QString summary(gate::difference const& d) const;

    trace_pointer trace_, earlier_;
    trace_loader loader_;
    filtered_table filtered_;
    group_model groups_;
    table_view* view_;
    QLabel* text_;
    QComboBox* group_box_;
    QProgressBar* progress_;
    QPushButton* cancel_;
};

}  // namespace lastref::gui
