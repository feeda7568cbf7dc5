// What all pictures over time share: which times are seen, and the axis with the process's phases.
#pragma once

#include "gui/scenes/timeline.h"
#include "gui/scenes/units.h"

#include <QPainter>
#include <QRect>

#include <string>
#include <vector>

namespace lastref::gui::widgets {

using store::time_ns;

inline QString text(std::string const& utf8) {
    return QString::fromStdString(utf8);
}

// From times to places of a plot and back.
struct time_scale {
    time_ns from = 0, to = 1;
    int left = 0, width = 1;

    double x(time_ns at) const {
        return left + static_cast<double>(at - from) / static_cast<double>(to - from) * width;
    }
    time_ns at(double x) const {
        return from + static_cast<time_ns>((x - left) / width * static_cast<double>(to - from));
    }
    time_ns per_pixel() const { return std::max<time_ns>((to - from) / std::max(width, 1), 1); }
};

// Ticks and their texts in `head` (one line high), and lines down through `plot`. Returns what they count from, empty
// where that is the trace's begin.
QString draw_time_axis(QPainter& painter, QRect const& head, QRect const& plot, time_scale const& scale,
                       QPalette const& palette);

// Phases: a line each through `plot`, and their names in `head`, in as many lines as fit; names that would lie over
// others are left out.
void draw_marks(QPainter& painter, QRect const& head, QRect const& plot, time_scale const& scale,
                std::vector<scenes::mark> const& marks, QPalette const& palette);

}  // namespace lastref::gui::widgets
