#include "gui/widgets/time_view.h"

#include "gui/widgets/colours.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lastref::gui::widgets {

time_view::time_view(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setBackgroundRole(QPalette::Base);
    viewport()->setAutoFillBackground(true);
}

QSize time_view::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 110, row_height() * 16};
}

// --- what is seen --------------------------------------------------------------------------------------------------

void time_view::set_bounds(time_ns begin, time_ns end, std::vector<scenes::mark> marks) {
    bool const whole = from_ <= begin_ && to_ >= end_;
    begin_ = begin;
    end_ = std::max(end, begin + 1);
    marks_ = std::move(marks);
    layout_changed();
    if (whole)
        show_all();
    else
        show_range(from_, to_);
}

void time_view::show_all() {
    show_range(begin_ - margin(), end_ + margin());
}

void time_view::show_range(time_ns from, time_ns to) {
    auto const least = begin_ - margin(), most = end_ + margin();
    auto const length = std::clamp(to - from, std::min(closest, most - least), most - least);
    auto const middle = from + (to - from) / 2;
    from = std::clamp(middle - length / 2, least, most - length);
    bool const same = from == from_ && from + length == to_;
    from_ = from;
    to_ = from + length;
    viewport()->update();
    if (!same) Q_EMIT visible_range_changed(from_, to_);
}

void time_view::zoom(double factor, time_ns around) {
    auto const length = static_cast<double>(to_ - from_);
    auto const wanted = std::max(length / factor, static_cast<double>(closest));
    auto const share = static_cast<double>(around - from_) / length;
    auto const from = around - static_cast<time_ns>(std::llround(wanted * share));
    show_range(from, from + static_cast<time_ns>(std::llround(wanted)));
}

void time_view::pan(double share) {
    auto const by = static_cast<time_ns>(static_cast<double>(to_ - from_) * share);
    show_range(from_ + by, to_ + by);
}

// --- layout --------------------------------------------------------------------------------------------------------

// A line for the axis, and two for the names of phases.
int time_view::head_height() const {
    return fontMetrics().height() * (marks_.empty() ? 1 : 3) + 6;
}

QRect time_view::plot() const {
    auto const area = viewport()->rect();
    auto const left = std::min(label_width(), area.width() / 2);
    return {left, head_height(), std::max(1, area.width() - left), std::max(1, area.height() - head_height())};
}

time_scale time_view::scale() const {
    auto const area = plot();
    return {from_, to_, area.left(), area.width()};
}

int time_view::scrolled() const {
    return verticalScrollBar()->value();
}

void time_view::layout_changed() {
    auto const seen = plot().height();
    verticalScrollBar()->setPageStep(seen);
    verticalScrollBar()->setSingleStep(row_height());
    verticalScrollBar()->setRange(0, std::max(0, content_height() - seen));
    viewport()->update();
}

void time_view::scroll_to(int top, int bottom) {
    auto* const bar = verticalScrollBar();
    if (top < bar->value()) bar->setValue(top);
    if (bottom > bar->value() + plot().height()) bar->setValue(bottom - plot().height());
}

void time_view::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    auto const area = plot();
    auto const line = fontMetrics().height();
    QRect const axis(area.left(), 2, area.width(), line);
    auto const base = draw_time_axis(painter, axis, area, scale(), palette());
    painter.setPen(shades_of(palette()).faint);
    painter.drawText(QRect(6, 2, area.left() - 12, line), Qt::AlignVCenter | Qt::AlignRight, base);
    painter.save();
    draw(painter);
    painter.restore();
    if (!marks_.empty())
        draw_marks(painter, QRect(area.left(), 4 + line, area.width(), 2 * line), area, scale(), marks_, palette());
}

void time_view::resizeEvent(QResizeEvent*) {
    layout_changed();
}

void time_view::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) layout_changed();
    QAbstractScrollArea::changeEvent(event);
}

// --- mouse ---------------------------------------------------------------------------------------------------------

bool time_view::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    auto const* help = static_cast<QHelpEvent*>(event);
    auto const words = tip(help->pos());
    if (words.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), words, viewport());
    return true;
}

void time_view::wheelEvent(QWheelEvent* event) {
    auto const turned = event->angleDelta();
    if ((event->modifiers() & Qt::ShiftModifier) != 0)
        return QCoreApplication::sendEvent(verticalScrollBar(), event), event->accept();
    if (std::abs(turned.x()) > std::abs(turned.y()))
        pan(-turned.x() / 1200.0);
    else
        zoom(std::pow(1.25, turned.y() / 120.0), scale().at(event->position().x()));
    event->accept();
}

void time_view::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    pressed_ = last_ = event->pos();
    pressing_ = true;
    dragging_ = false;
}

void time_view::drag_to(QPoint const& now) {
    auto const moved = now - last_;
    last_ = now;
    auto const by =
        static_cast<time_ns>(moved.x() / static_cast<double>(plot().width()) * static_cast<double>(to_ - from_));
    show_range(from_ - by, to_ - by);
    verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
}

void time_view::mouseMoveEvent(QMouseEvent* event) {
    if (pressing_ && !dragging_ && (event->pos() - pressed_).manhattanLength() >= QApplication::startDragDistance()) {
        dragging_ = true;
        viewport()->setCursor(Qt::ClosedHandCursor);
    }
    if (dragging_)
        drag_to(event->pos());
    else
        tell_hover(event->pos());
}

void time_view::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !pressing_) return;
    pressing_ = false;
    viewport()->unsetCursor();
    if (!std::exchange(dragging_, false)) click(event->pos());
}

void time_view::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) double_click(event->pos());
}

void time_view::tell_hover(QPoint const& at) {
    auto const words = tip(at);
    if (words == hover_) return;
    hover_ = words;
    Q_EMIT hovered(words);
}

void time_view::leaveEvent(QEvent*) {
    if (hover_.isEmpty()) return;
    hover_.clear();
    Q_EMIT hovered({});
}

// --- keys ----------------------------------------------------------------------------------------------------------

void time_view::keyPressEvent(QKeyEvent* event) {
    auto* const bar = verticalScrollBar();
    auto const middle = from_ + (to_ - from_) / 2;
    switch (event->key()) {
        case Qt::Key_Left:
            return pan(-0.15);
        case Qt::Key_Right:
            return pan(0.15);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(1.5, middle);
        case Qt::Key_Minus:
            return zoom(1 / 1.5, middle);
        case Qt::Key_Home:
            return show_all();
        case Qt::Key_Up:
            return bar->setValue(bar->value() - row_height());
        case Qt::Key_Down:
            return bar->setValue(bar->value() + row_height());
        case Qt::Key_PageUp:
            return bar->setValue(bar->value() - plot().height());
        case Qt::Key_PageDown:
            return bar->setValue(bar->value() + plot().height());
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace lastref::gui::widgets
