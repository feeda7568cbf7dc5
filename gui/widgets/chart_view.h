// Quantities over time as lines in steps, with phases, a legend and an axis of values.
//
// A click chooses a time, for "what was live then". Keys, beside those of every view over time: Ctrl+Left and
// Ctrl+Right choose the change before and after.
#pragma once

#include "gui/scenes/curves.h"
#include "gui/widgets/time_view.h"

#include <memory>
#include <optional>

namespace lastref::gui::widgets {

class chart_view : public time_view {
    Q_OBJECT

  public:
    explicit chart_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::chart const> scene);
    // For a chart that is part of something larger, which it keeps alive.
    template <class Owner>
    void set_scene(std::shared_ptr<Owner const> const& owner, scenes::chart const& part) {
        set_scene(std::shared_ptr<scenes::chart const>(owner, &part));
    }

    void choose_time(std::optional<time_ns> at);  // without a signal
    std::optional<time_ns> chosen_time() const { return chosen_; }
    std::size_t looked_at() const { return looked_at_; }  // by the latest painting

    // So that charts one below the other begin at the same place: what this one's values need, and what it is given.
    int needed_label_width() const { return needed_label_width_; }
    void set_label_width(int width);

  Q_SIGNALS:
    void time_chosen(qint64 at);
    void label_width_changed();  // the needed one

  protected:
    int content_height() const override { return 1; }
    int label_width() const override;
    void draw(QPainter& painter) override;
    QString tip(QPoint const& at) const override;
    void click(QPoint const& at) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void measure();
    QRect field() const;  // where lines are drawn
    double y(std::uint64_t value) const;
    void draw_values(QPainter& painter) const;
    struct column {  // a pixel wide; heights
        int x = 0;
        double enters = 0, top = 0, bottom = 0, leaves = 0;
    };
    std::vector<column> columns_of(scenes::series const& line);
    void draw_line(QPainter& painter, int number);
    void draw_steps(QPainter& painter, std::vector<column> const& columns, QColor const& colour, int number) const;
    void draw_dense(QPainter& painter, std::vector<column> const& columns, QColor const& colour, bool filled) const;
    void draw_legend(QPainter& painter) const;
    void draw_chosen(QPainter& painter) const;
    void choose_change(int step);

    std::shared_ptr<scenes::chart const> scene_;
    std::vector<scenes::value_tick> ticks_;
    std::optional<time_ns> chosen_;
    std::size_t looked_at_ = 0;
    int needed_label_width_ = 14;
    int least_label_width_ = 0;
};

}  // namespace lastref::gui::widgets
