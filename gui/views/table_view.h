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

    // As wide as their texts where there is room for all of them; else long texts give way, the first column's last.
    // Follows the view's width until a column was resized by hand.
    void fit_columns();
    void set_nothing(QString const& words);  // said in the place of rows where there are none
    QString const& nothing() const { return nothing_; }
    void copy() const;

  protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void share_out();

    std::function<void(QMenu&, QModelIndex const&)> offers_;
    std::vector<int> natural_;  // widths of columns, for all of their texts
    bool sharing_ = false;
    bool by_hand_ = false;
    QString nothing_;
};

}  // namespace lastref::gui
