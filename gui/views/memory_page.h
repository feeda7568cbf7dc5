// Memory over time: what the program holds, and what its pools do with it.
#pragma once

#include "gui/views/page.h"

class QComboBox;

namespace lastref::gui {

class chart_group;
class flame_panel;

class memory_page : public page {
    Q_OBJECT

  public:
    explicit memory_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::memory; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void set_filters(filter_stack const& filters) override;
    QWidget& picture() override;
    QAbstractItemModel const* exported() const override;
    chart_group& charts() { return *charts_; }
    flame_panel& flame() { return *flame_; }
    void set_search(QString const& text) override;

  private:
    void show_pool();
    std::vector<scenes::chart const*> pools() const;  // of streams, then of graphs

    trace_pointer trace_;
    chart_group* charts_;
    QComboBox* pool_;
    flame_panel* flame_;
};

}  // namespace lastref::gui
