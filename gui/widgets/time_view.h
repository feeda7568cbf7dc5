// A picture over time that can be zoomed and moved: what timeline, charts, lanes and lives have in common.
//
// Mouse: the wheel zooms round the cursor, with Shift it scrolls up and down; dragging moves; a click chooses; a double
// click zooms to what is there. Keys: Left and Right move, + and - zoom, Home shows all, Up, Down and Page Up, Page
// Down scroll (where a view has rows, Up and Down go through them).
#pragma once

#include "gui/widgets/axis.h"

#include <QAbstractScrollArea>
#include <QPoint>

namespace lastref::gui::widgets {

class time_view : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit time_view(QWidget* parent = nullptr);

    time_ns visible_from() const { return from_; }
    time_ns visible_to() const { return to_; }

    // Kept within what there is, and no closer than can be told apart.
    void show_range(time_ns from, time_ns to);
    void show_all();
    void zoom(double factor, time_ns around);  // above 1: closer
    void pan(double share);                    // of what is seen; positive: later

    // In the viewport's coordinates.
    time_scale scale() const;
    QRect plot() const;  // right of the labels, below the head

    QSize sizeHint() const override;

  Q_SIGNALS:
    void visible_range_changed(qint64 from, qint64 to);
    void hovered(QString text);  // what lies under the cursor; empty where nothing does

  protected:
    // Views say what there is, and draw it.
    virtual int content_height() const = 0;  // of all rows, without the head
    virtual void draw(QPainter& painter) = 0;
    virtual QString tip(QPoint const&) const { return {}; }
    virtual void click(QPoint const&) {}
    virtual void double_click(QPoint const&) {}
    virtual int label_width() const { return 0; }

    // What there is changed: where all of it was shown, all of it is shown again.
    void set_bounds(time_ns begin, time_ns end, std::vector<scenes::mark> marks);
    void layout_changed();  // content_height did

    int row_height() const { return fontMetrics().height() + 4; }
    int scrolled() const;  // pixels that rows are moved up
    std::vector<scenes::mark> const& marks() const { return marks_; }
    void scroll_to(int top, int bottom);  // of the content

    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    int head_height() const;
    void drag_to(QPoint const& now);
    void tell_hover(QPoint const& at);
    time_ns margin() const { return std::max<time_ns>((end_ - begin_) / 50, 10); }

    static constexpr time_ns closest = 50;  // shortest range that is shown, nanoseconds

    time_ns begin_ = 0, end_ = 1000;
    time_ns from_ = 0, to_ = 1000;
    std::vector<scenes::mark> marks_;
    QPoint pressed_;
    QPoint last_;
    bool pressing_ = false;
    bool dragging_ = false;
    QString hover_;
};

}  // namespace lastref::gui::widgets
