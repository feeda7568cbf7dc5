// A payload's life as a bar, and below it a lane for each holder with the references that it held over time. A click
// chooses a time, which the chain beside it is drawn for; Ctrl+Left and Ctrl+Right go from change to change.
#pragma once

#include "gui/scenes/holders.h"
#include "gui/widgets/time_view.h"

#include <memory>

namespace lastref::gui::widgets {

class holder_lanes : public time_view {
    Q_OBJECT

  public:
    explicit holder_lanes(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::payload_story const> scene);
    void choose_time(time_ns at);  // without a signal
    time_ns chosen_time() const { return chosen_; }

  Q_SIGNALS:
    void time_chosen(qint64 at);

  protected:
    int content_height() const override;
    int label_width() const override { return label_width_; }
    void draw(QPainter& painter) override;
    QString tip(QPoint const& at) const override;
    void click(QPoint const& at) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    static constexpr int gap = 4;
    int lane_height() const { return row_height() + gap; }
    QRect lane(std::size_t number) const;  // 0: the life, then the holders
    std::optional<std::size_t> holder_at(QPoint const& at) const;
    QString life_at(time_ns at) const;
    void draw_life(QPainter& painter) const;
    void draw_holder(QPainter& painter, std::size_t number) const;
    void draw_piece(QPainter& painter, QRect const& in, time_ns from, time_ns to, QColor const& fill,
                    QString const& words) const;
    void choose_change(int step);

    std::shared_ptr<scenes::payload_story const> scene_;
    int label_width_ = 0;
    time_ns chosen_ = 0;
};

}  // namespace lastref::gui::widgets
