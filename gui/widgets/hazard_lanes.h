// A finding about order, drawn: lanes of threads and streams, the calls on them one behind the other, what orders them,
// and dashed the order that is missing. Left and Right go from call to call, Return chooses one. Made to lie in a
// scroll area: it is as wide as its story is long.
#pragma once

#include "gui/scenes/hazard.h"

#include <QWidget>

#include <memory>

namespace lastref::gui::widgets {

class hazard_lanes : public QWidget {
    Q_OBJECT

  public:
    explicit hazard_lanes(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::hazard const> scene);

    QSize sizeHint() const override { return minimumSizeHint(); }
    QSize minimumSizeHint() const override;
    QString described(std::size_t point) const;
    QRect place_of(std::size_t point) const;

  Q_SIGNALS:
    void call_chosen(qint64 event);
    void hovered(QString text);

  protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void measure();
    int lane_height() const;
    int head_height() const;
    int lane_top(std::size_t lane) const;
    QString missing_words() const;
    int missing_width() const;
    int column_left(std::size_t column) const;
    void draw_lanes(QPainter& painter) const;
    void draw_labels(QPainter& painter) const;
    void draw_gaps(QPainter& painter) const;
    void draw_point(QPainter& painter, std::size_t number) const;
    void draw_edge(QPainter& painter, scenes::hazard_edge const& edge, bool missing) const;
    void draw_times(QPainter& painter) const;
    std::optional<std::size_t> point_at(QPoint const& at) const;
    void choose(std::size_t number);

    std::shared_ptr<scenes::hazard const> scene_;
    int label_width_ = 0;
    int column_width_ = 0;
    std::size_t current_ = 0;
};

}  // namespace lastref::gui::widgets
