// A table of calls: not a tree, since that would keep an entry for each of ten million rows.
#pragma once

#include "gui/models/call_model.h"

#include <QTableView>

#include <functional>

class QMenu;

namespace lastref::gui {

class call_table : public QTableView {
  public:
    explicit call_table(QString const& name, call_model& model, QWidget* parent = nullptr);  // for screen readers

    // Adds what a page offers for the call to the menu of a right click (or of the menu key).
    void set_offers(std::function<void(QMenu&, store::event const&)> offers) { offers_ = std::move(offers); }

    void choose(store::event_id event);  // where it is listed
    void copy() const;

  protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    void fit_columns();

    call_model& calls_;
    std::function<void(QMenu&, store::event const&)> offers_;
};

}  // namespace lastref::gui
