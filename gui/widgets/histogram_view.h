// How often lengths of time occurred, on a logarithmic axis. Left and Right go from bar to bar.
#pragma once

#include "gui/scenes/curves.h"

#include <QWidget>

#include <memory>
#include <optional>

namespace lastref::gui::widgets {

class histogram_view : public QWidget {
    Q_OBJECT

  public:
    explicit histogram_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::histogram const> scene);
    template <class Owner>
    void set_scene(std::shared_ptr<Owner const> const& owner, scenes::histogram const& part) {
        set_scene(std::shared_ptr<scenes::histogram const>(owner, &part));
    }

    QSize sizeHint() const override;
    std::optional<std::size_t> chosen_bin() const { return chosen_; }
    QString text_of(std::size_t bin) const;  // "10 ms to 20 ms: 12 times"

  Q_SIGNALS:
    void hovered(QString text);
    void bin_chosen(qint64 from, qint64 to);  // nanoseconds

  protected:
    void paintEvent(QPaintEvent*) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QString summary() const;
    QRect plot() const;
    QRectF bar(std::size_t bin) const;
    std::optional<std::size_t> bin_at(QPoint const& at) const;
    void draw_axes(QPainter& painter) const;
    void draw_bars(QPainter& painter) const;
    void choose(std::size_t bin);

    std::shared_ptr<scenes::histogram const> scene_;
    std::vector<scenes::value_tick> ticks_;
    std::optional<std::size_t> chosen_;
    std::optional<std::size_t> hovered_;
};

}  // namespace lastref::gui::widgets
