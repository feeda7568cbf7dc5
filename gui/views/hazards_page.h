// Findings about order, each with its lanes: threads, streams, and the order that is missing.
#pragma once

#include "gui/loader/background.h"
#include "gui/views/list_page.h"

class QLabel;
class QStackedWidget;

namespace lastref::gui::widgets {
class hazard_view;
}

namespace lastref::gui {

class hazards_page : public list_page {
    Q_OBJECT

  public:
    explicit hazards_page(QWidget* parent = nullptr);

    page_id id() const override { return page_id::hazards; }
    QString title() const override;
    void show_trace(trace_pointer const& trace) override;
    void choose_finding(std::size_t finding) override;
    QWidget& picture() override;
    widgets::hazard_view& lanes() { return *lanes_; }

  protected:
    table_pointer make_table(trace_pointer const& trace) const override;
    void row_chosen(std::optional<std::size_t> row) override;

  private:
    void say(QString const& text);
    void draw(std::size_t finding);

    std::vector<std::size_t> listed_;  // findings by row
    QStackedWidget* below_;            // lanes, or words
    widgets::hazard_view* lanes_;
    QLabel* words_;
    background work_;
};

}  // namespace lastref::gui
