#include "gui/widgets/chart_view.h"

#include "analyzer/findings/wording.h"
#include "gui/widgets/colours.h"

#include <QKeyEvent>

#include <algorithm>

namespace lastref::gui::widgets {
namespace {

QColor shade_of(QColor colour) {
    colour.setAlphaF(0.16f);
    return colour;
}

}  // namespace

chart_view::chart_view(QWidget* parent) : time_view(parent) {
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void chart_view::set_scene(std::shared_ptr<scenes::chart const> scene) {
    scene_ = std::move(scene);
    chosen_.reset();
    measure();
    setAccessibleName(scene_ ? text(scene_->title) : tr("Chart"));
    setAccessibleDescription(scene_ ? tr("at most %1").arg(text(scenes::value_text(scene_->greatest(), scene_->unit)))
                                    : QString());
    if (scene_)
        set_bounds(scene_->begin, scene_->end, scene_->marks);
    else
        set_bounds(0, 1000, {});
}

// As many values as have room, one above the other.
void chart_view::measure() {
    auto const before = needed_label_width_;
    auto const most = std::clamp(field().height() / (2 * row_height()), 1, 8);
    ticks_ = scene_ ? scenes::value_ticks(scene_->greatest(), scene_->unit, most) : std::vector<scenes::value_tick>{};
    needed_label_width_ = 14;
    for (auto const& tick : ticks_)
        needed_label_width_ = std::max(needed_label_width_, fontMetrics().horizontalAdvance(text(tick.text)) + 14);
    if (needed_label_width_ != before) Q_EMIT label_width_changed();
}

void chart_view::resizeEvent(QResizeEvent* event) {
    measure();
    time_view::resizeEvent(event);
}

void chart_view::changeEvent(QEvent* event) {
    measure();
    time_view::changeEvent(event);
}

// --- layout --------------------------------------------------------------------------------------------------------

int chart_view::label_width() const {
    return std::max(needed_label_width_, least_label_width_);
}

void chart_view::set_label_width(int width) {
    if (width == least_label_width_) return;
    least_label_width_ = width;
    viewport()->update();
}

// A line for the legend above, and room for half a text below.
QRect chart_view::field() const {
    return plot().adjusted(0, row_height() + 8, 0, -fontMetrics().height() / 2 - 2);
}

double chart_view::y(std::uint64_t value) const {
    auto const area = field();
    auto const most = static_cast<double>(std::max<std::uint64_t>(ticks_.empty() ? 1 : ticks_.back().at, 1));
    return area.bottom() - static_cast<double>(value) / most * area.height();
}

// --- painting ------------------------------------------------------------------------------------------------------

void chart_view::draw(QPainter& painter) {
    looked_at_ = 0;
    if (!scene_) return;
    draw_values(painter);
    painter.save();
    painter.setClipRect(plot());
    for (int i = 0; i < static_cast<int>(scene_->lines.size()); ++i) draw_line(painter, i);
    draw_chosen(painter);
    painter.restore();
    draw_legend(painter);
}

void chart_view::draw_values(QPainter& painter) const {
    auto const colours = shades_of(palette());
    auto const area = plot();
    for (auto const& tick : ticks_) {
        auto const at = static_cast<int>(y(tick.at));
        painter.setPen(colours.grid);
        painter.drawLine(area.left(), at, area.right(), at);
        painter.setPen(colours.faint);
        painter.drawText(QRect(4, at - row_height() / 2, area.left() - 10, row_height()),
                         Qt::AlignVCenter | Qt::AlignRight, text(tick.text));
    }
}

// What a line does within each pixel that is seen.
std::vector<chart_view::column> chart_view::columns_of(scenes::series const& line) {
    std::vector<column> out;
    auto const s = scale();
    auto const area = field();  // asked for once: y() would ask four times a pixel
    auto const most = static_cast<double>(std::max<std::uint64_t>(ticks_.empty() ? 1 : ticks_.back().at, 1));
    auto const height = [&](std::uint64_t value) {
        return area.bottom() - static_cast<double>(value) / most * area.height();
    };
    auto const first = static_cast<int>(std::max<double>(s.left, s.x(line.steps().front().at)));
    auto const last = static_cast<int>(std::min<double>(s.left + s.width, s.x(scene_->end)));
    for (auto x = first; x <= last; ++x) {
        auto const from = s.at(x), to = std::max(from, s.at(x + 1) - 1);
        auto const extent = line.over(from, to, &looked_at_);
        out.push_back(
            {x, height(line.value_at(from)), height(extent.greatest), height(extent.least), height(line.value_at(to))});
    }
    return out;
}

void chart_view::draw_line(QPainter& painter, int number) {
    auto const& line = scene_->lines[static_cast<std::size_t>(number)];
    if (line.empty()) return;
    auto const columns = columns_of(line);
    if (columns.empty()) return;
    auto const colour = series_colour(number, palette());
    auto const changes =
        std::count_if(columns.begin(), columns.end(), [](column const& c) { return c.top != c.bottom; });
    if (static_cast<std::size_t>(changes) * 2 > columns.size())
        draw_dense(painter, columns, colour, number == 0);
    else
        draw_steps(painter, columns, colour, number);
}

// A line from pixel to pixel, and down each where the value goes up and down within it.
void chart_view::draw_steps(QPainter& painter, std::vector<column> const& columns, QColor const& colour,
                            int number) const {
    QPolygonF path;
    for (auto const& c : columns) {
        path << QPointF(c.x, c.enters);
        if (c.top != c.enters) path << QPointF(c.x, c.top);
        if (c.bottom != c.enters) path << QPointF(c.x, c.bottom);
        path << QPointF(c.x, c.leaves);
    }
    if (number == 0) {
        auto filled = path;
        filled << QPointF(path.last().x(), y(0)) << QPointF(path.first().x(), y(0));
        painter.setPen(Qt::NoPen);
        painter.setBrush(shade_of(colour));
        painter.drawPolygon(filled);
        painter.setBrush(Qt::NoBrush);
    }
    painter.setPen(QPen(colour, 1.6, number >= 2 ? Qt::DashLine : Qt::SolidLine));
    painter.drawPolyline(path);
}

// Where the value changes in most pixels: a bar in each. A line of that many corners costs twenty times as much.
void chart_view::draw_dense(QPainter& painter, std::vector<column> const& columns, QColor const& colour,
                            bool filled) const {
    std::vector<QRectF> bars, below;
    auto const bottom = y(0);
    for (auto const& c : columns) {
        bars.emplace_back(c.x, c.top, 1, std::max(c.bottom - c.top, 1.6));
        below.emplace_back(c.x, c.bottom, 1, std::max(bottom - c.bottom, 0.0));
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(shade_of(colour));
    if (filled) painter.drawRects(below.data(), static_cast<int>(below.size()));
    painter.setBrush(colour);
    painter.drawRects(bars.data(), static_cast<int>(bars.size()));
    painter.setBrush(Qt::NoBrush);
}

void chart_view::draw_legend(QPainter& painter) const {
    auto const area = plot();
    auto const metrics = fontMetrics();
    auto x = area.left() + 8;
    for (int i = 0; i < static_cast<int>(scene_->lines.size()); ++i) {
        auto const words = text(scene_->lines[static_cast<std::size_t>(i)].name());
        QRect const box(x, area.top() + 3, metrics.horizontalAdvance(words) + 26, row_height());
        painter.fillRect(box, palette().color(QPalette::Base));
        painter.setPen(QPen(series_colour(i, palette()), 3, i >= 2 ? Qt::DotLine : Qt::SolidLine));
        painter.drawLine(box.left() + 2, box.center().y(), box.left() + 18, box.center().y());
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(box.adjusted(24, 0, 4, 0), Qt::AlignVCenter, words);
        x = box.right() + 16;
    }
}

void chart_view::draw_chosen(QPainter& painter) const {
    if (!chosen_) return;
    auto const x = scale().x(*chosen_);
    painter.setPen(QPen(shades_of(palette()).selection, 2));
    painter.drawLine(QPointF(x, plot().top()), QPointF(x, plot().bottom()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(shades_of(palette()).selection);
    for (auto const& line : scene_->lines)
        if (!line.empty()) painter.drawEllipse(QPointF(x, y(line.value_at(*chosen_))), 3, 3);
    painter.setBrush(Qt::NoBrush);
}

// --- choosing ------------------------------------------------------------------------------------------------------

QString chart_view::tip(QPoint const& at) const {
    if (!scene_ || !plot().contains(at)) return {};
    auto const when = scale().at(at.x());
    auto out = tr("at %1").arg(text(findings::time_text(when)));
    for (auto const& line : scene_->lines)
        if (!line.empty())
            out += QStringLiteral("\n%1: %2")
                       .arg(text(line.name()), text(scenes::value_text(line.value_at(when), scene_->unit)));
    return out;
}

void chart_view::choose_time(std::optional<time_ns> at) {
    chosen_ = at;
    viewport()->update();
}

void chart_view::click(QPoint const& at) {
    if (!scene_ || !plot().contains(at)) return;
    choose_time(std::clamp(scale().at(at.x()), scene_->begin, scene_->end));
    Q_EMIT time_chosen(*chosen_);
}

void chart_view::choose_change(int step) {
    if (!scene_ || scene_->lines.empty() || scene_->lines.front().empty()) return;
    auto const& steps = scene_->lines.front().steps();
    auto const now = chosen_.value_or(visible_from());
    auto const later = [](time_ns t, scenes::step const& s) { return t < s.at; };
    auto next = std::upper_bound(steps.begin(), steps.end(), now, later);
    if (step < 0) {
        while (next != steps.begin() && (next == steps.end() || next->at >= now)) --next;
    }
    if (next == steps.end()) --next;
    choose_time(next->at);
    auto const half = (visible_to() - visible_from()) / 2;
    if (next->at < visible_from() || next->at > visible_to()) show_range(next->at - half, next->at + half);
    setAccessibleDescription(
        tr("at %1: %2").arg(text(findings::time_text(next->at)), text(scenes::value_text(next->value, scene_->unit))));
    Q_EMIT time_chosen(next->at);
}

void chart_view::keyPressEvent(QKeyEvent* event) {
    bool const control = (event->modifiers() & Qt::ControlModifier) != 0;
    if (control && event->key() == Qt::Key_Left) return choose_change(-1);
    if (control && event->key() == Qt::Key_Right) return choose_change(1);
    time_view::keyPressEvent(event);
}

}  // namespace lastref::gui::widgets
