// The table of a page: sorting by its header, copying, a menu for what can be done with a row.
#pragma once

#include <QTreeView>

#include <functional>
#include <vector>

class QMenu;

namespace lastref::gui {

class table_view : public QTreeView {
  public:
    explicit table_view(QString const& name, QWidget* parent = nullptr);  // for screen readers

    // Adds what a page offers for the row to the menu of a right click (or of the menu key).
    void set_offers(std::function<void(QMenu&, QModelIndex const&)> offers) { offers_ = std::move(offers); }

    void fit_columns(int widest = 420);  // to what is seen
    void copy() const;

  protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    std::function<void(QMenu&, QModelIndex const&)> offers_;
};

}  // namespace lastref::gui
