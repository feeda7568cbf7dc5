#include "gui/widgets/histogram_view.h"

#include "gui/widgets/axis.h"
#include "gui/widgets/colours.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace lastref::gui::widgets {
histogram_view::histogram_view(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setAccessibleName(tr("Histogram"));
}

QSize histogram_view::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 70, fontMetrics().height() * 13};
}

void histogram_view::set_scene(std::shared_ptr<scenes::histogram const> scene) {
    scene_ = std::move(scene);
    chosen_.reset();
    hovered_.reset();
    std::uint64_t most = 0;
    if (scene_)
        for (auto const& bin : scene_->bins) most = std::max(most, bin.count);
    ticks_ = scenes::value_ticks(most, scenes::unit::count, 4);
    setAccessibleName(scene_ ? text(scene_->title) : tr("Histogram"));
    setAccessibleDescription(summary());
    update();
}

QString histogram_view::summary() const {
    if (!scene_ || scene_->count == 0) return {};
    auto const longest = text(scenes::length_text(scene_->longest));
    if (scene_->count == 1) return tr("one payload, %1").arg(longest);
    return tr("%1 payloads, median %2, longest %3")
        .arg(text(scenes::value_text(scene_->count, scenes::unit::count)), text(scenes::length_text(scene_->median)),
             longest);
}

QString histogram_view::text_of(std::size_t bin) const {
    auto const& b = scene_->bins[bin];
    auto const between = tr("%1 to %2").arg(text(scenes::length_text(b.from)), text(scenes::length_text(b.to)));
    if (b.count == 1) return tr("%1: once").arg(between);
    return tr("%1: %2 times").arg(between, text(scenes::value_text(b.count, scenes::unit::count)));
}

// --- painting ------------------------------------------------------------------------------------------------------

QRect histogram_view::plot() const {
    auto const metrics = fontMetrics();
    int widest = 0;
    for (auto const& tick : ticks_) widest = std::max(widest, metrics.horizontalAdvance(text(tick.text)));
    return rect().adjusted(widest + 16, metrics.height() * 5 / 2, -12, -metrics.height() - 10);
}

QRectF histogram_view::bar(std::size_t bin) const {
    auto const area = plot();
    // Few bins would make bars as wide as the window.
    auto const slots = std::max<std::size_t>(scene_->bins.size(), 8);
    auto const width = static_cast<double>(area.width()) / static_cast<double>(slots);
    auto const most = static_cast<double>(std::max<std::uint64_t>(ticks_.back().at, 1));
    auto const height = static_cast<double>(scene_->bins[bin].count) / most * area.height();
    return {area.left() + width * static_cast<double>(bin) + 1, area.bottom() - height, width - 2, height};
}

void histogram_view::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    auto const faint = shades_of(palette()).faint;
    if (!scene_ || scene_->bins.empty()) {
        painter.setPen(faint);
        painter.drawText(rect(), Qt::AlignCenter, tr("Nothing was cleaned up."));
        return;
    }
    draw_axes(painter);
    draw_bars(painter);
    painter.setPen(faint);
    auto words = summary();
    if (scene_->inferred) words += tr("; which memory belongs to which payload is inferred");
    QRect const head(8, 4, width() - 16, fontMetrics().height());
    painter.drawText(head, Qt::AlignVCenter, fontMetrics().elidedText(words, Qt::ElideRight, head.width()));
}

void histogram_view::draw_axes(QPainter& painter) const {
    auto const colours = shades_of(palette());
    auto const area = plot();
    auto const line = fontMetrics().height();
    for (auto const& tick : ticks_) {
        auto const share =
            static_cast<double>(tick.at) / static_cast<double>(std::max<std::uint64_t>(ticks_.back().at, 1));
        auto const y = area.bottom() - static_cast<int>(share * area.height());
        painter.setPen(colours.grid);
        painter.drawLine(area.left(), y, area.right(), y);
        painter.setPen(colours.faint);
        painter.drawText(QRect(2, y - line, area.left() - 10, 2 * line), Qt::AlignVCenter | Qt::AlignRight,
                         text(tick.text));
    }
    int free = 0;  // texts must not lie over each other
    auto const bins = scene_->bins.size();
    for (std::size_t i = 0; i <= bins; ++i) {
        auto const words = text(scenes::length_text(i < bins ? scene_->bins[i].from : scene_->bins.back().to));
        auto const wide = fontMetrics().horizontalAdvance(words);
        auto const x = static_cast<int>(i < bins ? bar(i).left() - 1 : bar(bins - 1).right() + 1);
        painter.setPen(colours.grid);
        painter.drawLine(x, area.bottom(), x, area.bottom() + 4);
        if (x - wide / 2 < free) continue;
        painter.setPen(colours.faint);
        painter.drawText(QRect(x - wide, area.bottom() + 5, 2 * wide, line), Qt::AlignCenter, words);
        free = x + wide / 2 + 8;
    }
}

void histogram_view::draw_bars(QPainter& painter) const {
    auto const colour = colour_of(scenes::style::callback, palette());
    for (std::size_t i = 0; i < scene_->bins.size(); ++i) {
        auto place = bar(i);
        if (scene_->bins[i].count > 0 && place.height() < 2)
            place.setTop(place.bottom() - 2);  // one of a million is seen
        bool const marked = chosen_ == i || hovered_ == i;
        painter.fillRect(place, marked ? mixed(colour, palette().color(QPalette::Text), 0.25) : colour);
        if (chosen_ != i) continue;
        painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
        painter.drawRect(place);
    }
}

// --- choosing ------------------------------------------------------------------------------------------------------

std::optional<std::size_t> histogram_view::bin_at(QPoint const& at) const {
    if (!scene_) return {};
    for (std::size_t i = 0; i < scene_->bins.size(); ++i) {
        auto const place = bar(i);
        if (at.x() >= place.left() && at.x() < place.right() && plot().contains(at)) return i;
    }
    return {};
}

void histogram_view::choose(std::size_t bin) {
    chosen_ = bin;
    auto const& b = scene_->bins[bin];
    setAccessibleDescription(text_of(bin));
    update();
    Q_EMIT hovered(text_of(bin));
    Q_EMIT bin_chosen(b.from, b.to);
}

void histogram_view::mouseMoveEvent(QMouseEvent* event) {
    auto const bin = bin_at(event->pos());
    if (bin == hovered_) return;
    hovered_ = bin;
    Q_EMIT hovered(bin ? text_of(*bin) : QString());
    update();
}

void histogram_view::mousePressEvent(QMouseEvent* event) {
    if (auto const bin = bin_at(event->pos())) choose(*bin);
}

void histogram_view::leaveEvent(QEvent*) {
    hovered_.reset();
    Q_EMIT hovered({});
    update();
}

void histogram_view::keyPressEvent(QKeyEvent* event) {
    bool const back = event->key() == Qt::Key_Left;
    if (!scene_ || scene_->bins.empty() || (!back && event->key() != Qt::Key_Right))
        return QWidget::keyPressEvent(event);
    auto const last = scene_->bins.size() - 1;
    if (!chosen_) return choose(back ? last : 0);
    choose(back ? *chosen_ - std::min<std::size_t>(*chosen_, 1) : std::min(*chosen_ + 1, last));
}

bool histogram_view::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto const* help = static_cast<QHelpEvent*>(event);
    auto const bin = bin_at(help->pos());
    QToolTip::showText(help->globalPos(), bin ? text_of(*bin) : QString(), this);
    return true;
}

}  // namespace lastref::gui::widgets
