#include "gui/widgets/axis.h"

#include "gui/widgets/colours.h"

#include <QFontMetrics>

#include <algorithm>

namespace lastref::gui::widgets {

QString draw_time_axis(QPainter& painter, QRect const& head, QRect const& plot, time_scale const& scale,
                       QPalette const& palette) {
    auto const metrics = painter.fontMetrics();
    auto const most =
        std::max(1, scale.width / std::max(1, metrics.horizontalAdvance(QStringLiteral("+000.000 ms")) + 12));
    auto const axis = scenes::time_ticks(scale.from, scale.to, most);
    auto const colours = shades_of(palette);
    for (auto const& tick : axis.ticks) {
        auto const x = static_cast<int>(scale.x(tick.at));
        painter.setPen(colours.grid);
        painter.drawLine(x, head.bottom() - metrics.height() / 4, x, plot.bottom());
        auto const label = text(tick.text);
        auto const width = metrics.horizontalAdvance(label);
        if (x + width / 2 > head.right() || x - width / 2 < head.left()) continue;
        painter.setPen(colours.faint);
        painter.drawText(QRect(x - width, head.top(), 2 * width, head.height()), Qt::AlignCenter, label);
    }
    return text(axis.base);
}

namespace {

// Lines of text that fill up from the left.
class label_rows {
  public:
    label_rows(QRect const& head, int height)
        : head_(head),
          height_(height),
          ends_(static_cast<std::size_t>(std::max(1, head.height() / height)), head.left()) {}

    // Where a text of that width goes beside `x`; an empty rectangle where there is no room.
    QRect place(int x, int width) {
        auto const left = x + 4 + width <= head_.right() ? x + 4 : x - 4 - width;
        for (std::size_t row = 0; row < ends_.size(); ++row) {
            if (left < ends_[row]) continue;
            ends_[row] = left + width + 8;
            return {left, head_.top() + static_cast<int>(row) * height_, width, height_};
        }
        return {};
    }

  private:
    QRect head_;
    int height_;
    std::vector<int> ends_;
};

}  // namespace

void draw_marks(QPainter& painter, QRect const& head, QRect const& plot, time_scale const& scale,
                std::vector<scenes::mark> const& marks, QPalette const& palette) {
    auto const metrics = painter.fontMetrics();
    label_rows rows(head, metrics.height());
    auto const colour = shades_of(palette).mark;
    for (auto const& mark : marks) {
        if (mark.at < scale.from || mark.at > scale.to) continue;
        auto const x = static_cast<int>(scale.x(mark.at));
        painter.setPen(QPen(colour, 1, Qt::DashLine));
        painter.drawLine(x, head.top(), x, plot.bottom());
        auto const label = text(mark.text);
        auto const place = rows.place(x, metrics.horizontalAdvance(label));
        if (place.isEmpty()) continue;
        painter.fillRect(place.adjusted(-1, 0, 1, 0), palette.color(QPalette::Base));
        painter.setPen(colour);
        painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft, label);
    }
}

}  // namespace lastref::gui::widgets
