#include "gui/widgets/holder_chain.h"

#include "analyzer/findings/wording.h"
#include "gui/widgets/axis.h"
#include "gui/widgets/colours.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace lastref::gui::widgets {

using scenes::holder_kind;

holder_chain::holder_chain(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setAccessibleName(tr("Who holds the payload"));
}

void holder_chain::set_scene(std::shared_ptr<scenes::payload_story const> scene) {
    scene_ = std::move(scene);
    current_ = 0;
    at_ = scene_ ? scene_->held_until() : 0;
    arrange();
}

void holder_chain::show_time(time_ns at) {
    at_ = at;
    current_ = 0;
    arrange();
}

// --- what is drawn -------------------------------------------------------------------------------------------------

std::optional<std::size_t> holder_chain::box_of(std::size_t holder) const {
    for (std::size_t i = 0; i < boxes_.size(); ++i)
        if (boxes_[i].what == role::holder && boxes_[i].holder == holder) return i;
    return {};
}

// With what its references came from, which stands between it and the payload.
void holder_chain::add_holder(std::size_t holder) {
    if (box_of(holder)) return;
    auto const& h = scene_->holders[holder];
    std::size_t below = 0;  // the payload
    bool const chained = h.source && *h.source != 0;
    if (chained) {
        add_holder(*h.source);
        below = *box_of(*h.source);
    }
    box b;
    b.holder = holder;
    b.to = below;
    b.column = boxes_[below].column + 1;
    b.references = h.count_at(at_);
    b.title = text(h.name);
    b.faint = b.references == 0;
    if (h.gone_at && *h.gone_at <= at_)
        b.detail = tr("gone at %1").arg(text(findings::time_text(*h.gone_at)));
    else if (b.references == 0)
        b.detail = tr("holds none now");
    else
        b.detail = b.references == 1 ? tr("holds 1 reference") : tr("holds %1 references").arg(b.references);
    // The first in a chain goes on in the row of what it holds.
    auto const taken = [&](int column, int row) {
        return std::any_of(boxes_.begin(), boxes_.end(),
                           [&](box const& o) { return o.column >= column && o.row == row; });
    };
    b.row = below == 0 ? 0 : boxes_[below].row;
    while (taken(b.column, b.row)) ++b.row;
    boxes_.push_back(std::move(b));
}

void holder_chain::arrange() {
    boxes_.clear();
    if (scene_) {
        auto const handle = scene_->payload != 0 ? scene_->payload : scene_->handle;
        auto const size = scene_->bytes > 0 ? text(findings::bytes_text(scene_->bytes))
                                            : tr("user object %1").arg(text(findings::handle_text(scene_->handle)));
        boxes_.push_back(
            {role::payload, 0, 0, 0, tr("payload %1").arg(text(findings::handle_text(handle))), size, false, {}, 0});
        std::size_t left_out = 0;
        for (std::size_t i = 0; i < scene_->holders.size(); ++i) {
            if (scene_->holders[i].count_at(at_) == 0) continue;
            if (boxes_.size() < most_boxes)
                add_holder(i);
            else
                ++left_out;
        }
        auto const holders = boxes_.size();
        for (std::size_t i = 1; i < holders; ++i) {
            auto const& h = scene_->holders[boxes_[i].holder];
            if (h.kind != holder_kind::graph_exec || h.launches == 0 || h.last_launch > scene_->end) continue;
            auto const count =
                h.launches == 1
                    ? tr("launched once")
                    : tr("launched %1 times").arg(text(findings::counted(static_cast<std::int64_t>(h.launches))));
            boxes_.push_back({role::launches, boxes_[i].holder, boxes_[i].column + 1, boxes_[i].row, count,
                              tr("last on %1").arg(text(h.last_stream)), false, i, 0});
        }
        if (left_out > 0) boxes_.push_back({role::more, 0, 1, rows(), tr("and %1 more").arg(left_out), {}, true, 0, 0});
    }
    setAccessibleDescription(described().join(QStringLiteral("; ")));
    turn();
}

void holder_chain::set_room(QSize const& room) {
    if (room == room_) return;
    room_ = room;
    turn();
}

void holder_chain::turn() {
    upright_ = false;
    auto const lying = extent();
    upright_ = true;
    bool const fits_only_upright = lying.width() > room_.width() && extent().width() <= room_.width();
    upright_ = room_.isValid() && fits_only_upright;
    setMinimumSize(minimumSizeHint());
    updateGeometry();
    update();
}

QStringList holder_chain::described() const {
    QStringList out;
    for (auto const& b : boxes_) {
        auto words = b.detail.isEmpty() ? b.title : b.title + QStringLiteral(" (") + b.detail + QLatin1Char(')');
        if (b.to) words += QStringLiteral(" → ") + boxes_[*b.to].title;
        out << words;
    }
    return out;
}

// --- layout --------------------------------------------------------------------------------------------------------

int holder_chain::rows() const {
    int out = 0;
    for (auto const& b : boxes_) out = std::max(out, b.row + 1);
    return out;
}

QSize holder_chain::box_size() const {
    auto const metrics = fontMetrics();
    int widest = metrics.averageCharWidth() * 20;
    for (auto const& b : boxes_)
        widest = std::max({widest, metrics.horizontalAdvance(b.title), metrics.horizontalAdvance(b.detail)});
    return {widest + 24, metrics.height() * 2 + 16};
}

QRect holder_chain::place(box const& b) const {
    auto const size = box_size();
    auto const margin = fontMetrics().height();
    if (upright_)
        return {QPoint(margin + b.row * (size.width() + margin), margin + b.column * (size.height() + 3 * margin / 2)),
                size};
    return {QPoint(margin + b.column * (size.width() + 3 * margin), margin + b.row * (size.height() + margin)), size};
}

QSize holder_chain::extent() const {
    QRect all;
    for (auto const& b : boxes_) all = all.united(place(b));
    auto const margin = fontMetrics().height();
    return {std::max(all.right(), 0) + margin, std::max(all.bottom(), box_size().height()) + margin};
}

QSize holder_chain::minimumSizeHint() const {
    return extent();
}

QSize holder_chain::sizeHint() const {
    return minimumSizeHint();
}

void holder_chain::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) arrange();
    QWidget::changeEvent(event);
}

// --- painting ------------------------------------------------------------------------------------------------------

void holder_chain::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (boxes_.empty()) {
        painter.setPen(shades_of(palette()).faint);
        painter.drawText(rect(), Qt::AlignCenter, tr("No payload is chosen."));
        return;
    }
    for (auto const& b : boxes_)
        if (b.to) draw_link(painter, b);
    for (std::size_t i = 0; i < boxes_.size(); ++i) draw_box(painter, i);
    if (boxes_.size() > 1) return;
    painter.setPen(shades_of(palette()).faint);
    auto const beside = place(boxes_.front());
    painter.drawText(beside.translated(0, beside.height() + 4), Qt::AlignTop | Qt::TextDontClip,
                     tr("Nobody holds it at %1.").arg(text(findings::time_text(at_))));
}

void holder_chain::draw_box(QPainter& painter, std::size_t number) const {
    auto const& b = boxes_[number];
    auto const at = place(b);
    auto const base = palette().color(QPalette::Base);
    auto const kind = b.what == role::holder ? scene_->holders[b.holder].kind : holder_kind::program;
    auto const colour = b.what == role::payload        ? colour_of(scenes::style::reference, palette())
                        : b.what == role::launches     ? colour_of(scenes::style::launch, palette())
                        : b.what == role::more         ? shades_of(palette()).faint
                        : kind == holder_kind::program ? colour_of(scenes::style::allocate, palette())
                                                       : colour_of(scenes::style::graph, palette());
    bool const current = hasFocus() && number == current_;
    painter.setPen(
        QPen(b.faint ? mixed(base, colour, 0.5) : colour, current ? 3 : 1.5, b.faint ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(mixed(base, colour, b.faint ? 0.05 : 0.16));
    painter.drawRoundedRect(QRectF(at).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    auto const inside = at.adjusted(12, 8, -12, -8);
    painter.setPen(b.faint ? shades_of(palette()).faint : palette().color(QPalette::Text));
    painter.drawText(inside, Qt::AlignLeft | (b.detail.isEmpty() ? Qt::AlignVCenter : Qt::AlignTop), b.title);
    painter.setPen(shades_of(palette()).faint);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignBottom, b.detail);
}

// From a holder to what it holds: an arrow, dashed where it only came from there.
void holder_chain::draw_link(QPainter& painter, box const& b) const {
    auto const from = place(b), to = place(boxes_[*b.to]);
    auto const start = upright_ ? QPointF(from.center().x(), from.top()) : QPointF(from.left(), from.center().y());
    auto const end = upright_ ? QPointF(to.center().x(), to.bottom() + 2) : QPointF(to.right() + 2, to.center().y());
    auto const middle = (start + end) / 2;
    bool const holds = b.what == role::launches || b.references != 0;
    auto const colour = holds ? palette().color(QPalette::Text) : shades_of(palette()).faint;
    painter.setPen(QPen(colour, 1.4, holds ? Qt::SolidLine : Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    QPainterPath path(start);
    path.lineTo(upright_ ? QPointF(start.x(), middle.y()) : QPointF(middle.x(), start.y()));
    path.lineTo(upright_ ? QPointF(end.x(), middle.y()) : QPointF(middle.x(), end.y()));
    path.lineTo(end);
    painter.drawPath(path);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    if (upright_)
        painter.drawPolygon(QPolygonF({end, end + QPointF(-4, 8), end + QPointF(4, 8)}));
    else
        painter.drawPolygon(QPolygonF({end, end + QPointF(8, -4), end + QPointF(8, 4)}));
}

// --- choosing ------------------------------------------------------------------------------------------------------

std::optional<std::size_t> holder_chain::box_at(QPoint const& at) const {
    for (std::size_t i = 0; i < boxes_.size(); ++i)
        if (place(boxes_[i]).contains(at)) return i;
    return {};
}

void holder_chain::choose(std::size_t number) {
    current_ = number;
    update();
    auto const& b = boxes_[number];
    if (b.what == role::payload) Q_EMIT holder_chosen(scene_->created.value);
    if (b.what == role::holder || b.what == role::launches) Q_EMIT holder_chosen(scene_->holders[b.holder].made.value);
}

void holder_chain::mousePressEvent(QMouseEvent* event) {
    if (auto const b = box_at(event->pos())) choose(*b);
}

void holder_chain::mouseMoveEvent(QMouseEvent* event) {
    auto const b = box_at(event->pos());
    setCursor(b ? Qt::PointingHandCursor : Qt::ArrowCursor);
    Q_EMIT hovered(b ? described()[static_cast<qsizetype>(*b)] : QString());
}

void holder_chain::keyPressEvent(QKeyEvent* event) {
    auto const last = boxes_.empty() ? 0 : boxes_.size() - 1;
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Down:
            current_ = std::min(current_ + 1, last);
            break;
        case Qt::Key_Left:
        case Qt::Key_Up:
            current_ -= std::min<std::size_t>(current_, 1);
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!boxes_.empty()) choose(current_);
            return;
        default:
            return QWidget::keyPressEvent(event);
    }
    if (!boxes_.empty()) setAccessibleDescription(described()[static_cast<qsizetype>(current_)]);
    update();
}

}  // namespace lastref::gui::widgets
