// A flame graph: callers above, what they called below, as wide as the memory that was allocated there. A click on a
// frame makes it the whole width; frames above it stay as a way back.
//
// Keys: Up, Down, Left and Right go from frame to frame, Return zooms, Backspace zooms out, Home shows all.
#pragma once

#include "gui/scenes/flame.h"

#include <QAbstractScrollArea>

#include <memory>
#include <optional>
#include <vector>

namespace lastref::gui::widgets {

class flame_graph : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit flame_graph(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::flame const> scene);

    void zoom_to(std::uint32_t node);  // 0: all
    std::uint32_t zoomed() const { return zoomed_; }
    std::uint32_t current() const { return current_; }

    // Frames whose name contains the text stand out; empty ends the search. Returns the bytes below them.
    std::uint64_t search(QString const& words);

    QString described(std::uint32_t node) const;
    QSize sizeHint() const override;
    std::size_t painted() const { return painted_; }  // frames, by the latest painting

  Q_SIGNALS:
    void frame_chosen(quint32 node);
    void hovered(QString text);

  protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct shown {
        QRectF place;
        std::uint32_t node = 0;
        bool above = false;  // an ancestor of what is zoomed to
    };
    int row_height() const { return fontMetrics().height() + 5; }
    void layout_rows();
    void place_frames();
    void place_below(std::uint32_t node, double left, double width, int row);
    void draw_frame(QPainter& painter, shown const& what) const;
    std::optional<std::uint32_t> node_at(QPoint const& at) const;
    void choose(std::uint32_t node, bool zoom);
    void step(int key);
    bool matches(std::uint32_t node) const;

    std::shared_ptr<scenes::flame const> scene_;
    std::vector<shown> shown_;
    std::vector<bool> matching_;  // by name
    bool searching_ = false;
    std::uint32_t zoomed_ = 0;
    std::uint32_t current_ = 0;
    std::size_t painted_ = 0;
};

}  // namespace lastref::gui::widgets
