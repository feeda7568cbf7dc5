#include "gui/widgets/hazard_lanes.h"

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
namespace {

scenes::style style_of(scenes::deed d) {
    switch (d) {
        case scenes::deed::allocate:
            return scenes::style::allocate;
        case scenes::deed::release:
            return scenes::style::release;
        case scenes::deed::use:
            return scenes::style::work;
        case scenes::deed::record:
        case scenes::deed::wait:
        case scenes::deed::synchronize:
            return scenes::style::synchronize;
        case scenes::deed::other:
            break;
    }
    return scenes::style::other;
}

void draw_arrow_head(QPainter& painter, QPointF const& at, double angle, QColor const& colour) {
    painter.save();
    painter.translate(at);
    painter.rotate(angle);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(QPolygonF({{0, 0}, {-9, -4.5}, {-9, 4.5}}));
    painter.restore();
}

}  // namespace

hazard_lanes::hazard_lanes(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setAccessibleName(tr("Order of the calls"));
}

void hazard_lanes::set_scene(std::shared_ptr<scenes::hazard const> scene) {
    scene_ = std::move(scene);
    current_ = 0;
    setAccessibleDescription(scene_ ? text(scene_->title) : QString());
    measure();
}

// --- layout --------------------------------------------------------------------------------------------------------

void hazard_lanes::measure() {
    label_width_ = column_width_ = 0;
    if (scene_) {
        auto bold = font();
        bold.setBold(true);
        auto const metrics = fontMetrics();
        for (auto const& lane : scene_->lanes)
            label_width_ = std::max(label_width_, metrics.horizontalAdvance(text(lane.name)));
        for (auto const& p : scene_->points)
            column_width_ = std::max({column_width_, metrics.horizontalAdvance(text(p.name)),
                                      QFontMetrics(bold).horizontalAdvance(text(p.role))});
        label_width_ = std::min(label_width_, metrics.averageCharWidth() * 40) + 20;
        column_width_ =
            std::clamp(column_width_, metrics.averageCharWidth() * 12, metrics.averageCharWidth() * 26) + 44;
    }
    setMinimumSize(minimumSizeHint());
    updateGeometry();
    update();
}

void hazard_lanes::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) measure();
    QWidget::changeEvent(event);
}

int hazard_lanes::lane_height() const {
    return fontMetrics().height() * 2 + 20;
}

int hazard_lanes::head_height() const {
    return fontMetrics().height() + 12;
}

int hazard_lanes::lane_top(std::size_t lane) const {
    return head_height() + static_cast<int>(lane) * lane_height();
}

QString hazard_lanes::missing_words() const {
    return tr("nothing orders these");
}

int hazard_lanes::missing_width() const {
    return fontMetrics().horizontalAdvance(missing_words()) + 12;
}

int hazard_lanes::column_left(std::size_t column) const {
    // Room for the words on the missing order, where its arrow is short.
    bool const behind = scene_->missing && column >= scene_->points[scene_->missing->to].column;
    return label_width_ + 10 + static_cast<int>(column) * column_width_ + (behind ? missing_width() : 0);
}

QRect hazard_lanes::place_of(std::size_t point) const {
    auto const& p = scene_->points[point];
    return {column_left(p.column) + 12, lane_top(p.lane) + 5, column_width_ - 24, lane_height() - 10};
}

QSize hazard_lanes::minimumSizeHint() const {
    if (!scene_) return {fontMetrics().averageCharWidth() * 40, lane_height() * 2};
    return {column_left(scene_->columns) + 12, lane_top(scene_->lanes.size()) + 10};
}

// --- painting ------------------------------------------------------------------------------------------------------

void hazard_lanes::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!scene_) {
        painter.setPen(shades_of(palette()).faint);
        painter.drawText(rect(), Qt::AlignCenter, tr("No finding is chosen."));
        return;
    }
    draw_lanes(painter);
    draw_times(painter);
    draw_gaps(painter);
    for (auto const& edge : scene_->edges) draw_edge(painter, edge, false);
    for (std::size_t i = 0; i < scene_->points.size(); ++i) draw_point(painter, i);
    if (scene_->missing) draw_edge(painter, *scene_->missing, true);
    draw_labels(painter);
}

void hazard_lanes::draw_lanes(QPainter& painter) const {
    auto const colours = shades_of(palette());
    for (std::size_t i = 0; i < scene_->lanes.size(); ++i) {
        auto const& lane = scene_->lanes[i];
        QRect const all(0, lane_top(i), width(), lane_height());
        if (lane.kind != scenes::lane_kind::thread) painter.fillRect(all, colours.stripe);
        painter.setPen(colours.grid);
        painter.drawLine(all.topLeft(), all.topRight());
        painter.drawLine(column_left(0), all.center().y(), width() - 8, all.center().y());
    }
}

// They stay where they are seen, however far the lanes are scrolled.
void hazard_lanes::draw_labels(QPainter& painter) const {
    auto const left = std::max(visibleRegion().boundingRect().left(), 0);
    auto const colours = shades_of(palette());
    for (std::size_t i = 0; i < scene_->lanes.size(); ++i) {
        auto const& lane = scene_->lanes[i];
        QRect const place(left, lane_top(i), label_width_, lane_height() + 1);
        painter.fillRect(place,
                         lane.kind == scenes::lane_kind::thread ? palette().color(QPalette::Base) : colours.stripe);
        painter.setPen(colours.grid);
        painter.drawLine(place.topLeft(), place.topRight());
        painter.setPen(palette().color(QPalette::Text));
        auto const inside = place.adjusted(10, 0, -4, 0);
        painter.drawText(inside, Qt::AlignVCenter,
                         fontMetrics().elidedText(text(lane.name), Qt::ElideMiddle, inside.width()));
    }
}

void hazard_lanes::draw_times(QPainter& painter) const {
    painter.setPen(shades_of(palette()).faint);
    auto const first = scene_->points.empty() ? 0 : scene_->points.front().at;
    for (auto const& p : scene_->points) {
        auto const words = p.column == 0
                               ? text(findings::time_text(p.at))
                               : QStringLiteral("+") + text(scenes::length_text(std::max<time_ns>(p.at - first, 0)));
        painter.drawText(QRect(column_left(p.column), 4, column_width_, fontMetrics().height()), Qt::AlignCenter,
                         words);
    }
}

void hazard_lanes::draw_gaps(QPainter& painter) const {
    auto const colours = shades_of(palette());
    for (auto const& gap : scene_->gaps) {
        auto const x = column_left(gap.before_column);
        painter.setPen(QPen(colours.faint, 1, Qt::DotLine));
        painter.drawLine(x, head_height(), x, lane_top(scene_->lanes.size()));
        auto const words = gap.calls == 1
                               ? tr("1 more")
                               : tr("%1 more").arg(text(findings::counted(static_cast<std::int64_t>(gap.calls))));
        auto const wide = fontMetrics().horizontalAdvance(words) + 6;
        QRect const place(x - wide / 2, lane_top(scene_->lanes.size()) - fontMetrics().height() - 2, wide,
                          fontMetrics().height());
        painter.fillRect(place, palette().color(QPalette::Base));
        painter.setPen(colours.faint);
        painter.drawText(place, Qt::AlignCenter, words);
    }
}

void hazard_lanes::draw_point(QPainter& painter, std::size_t number) const {
    auto const& p = scene_->points[number];
    auto const place = place_of(number);
    auto const colour = colour_of(style_of(p.deed), palette());
    auto const base = palette().color(QPalette::Base);
    if (p.caller && *p.caller != p.lane) {  // which thread gave it to the stream
        painter.setPen(QPen(mixed(base, colour, 0.7), 1.4, Qt::DotLine));
        auto const y = lane_top(*p.caller) + lane_height() / 2;
        painter.drawLine(place.center().x(), y, place.center().x(), place.top());
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawEllipse(QPointF(place.center().x(), y), 3.5, 3.5);
    }
    bool const key = !p.role.empty();
    bool const current = hasFocus() && number == current_;
    painter.setPen(QPen(current ? palette().color(QPalette::Text) : colour, current ? 2.5 : key ? 2 : 1));
    painter.setBrush(mixed(base, colour, key ? 0.24 : 0.07));
    painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    auto const inside = place.adjusted(8, 4, -6, -4);
    auto const name = fontMetrics().elidedText(text(p.name), Qt::ElideRight, inside.width());
    painter.setPen(palette().color(QPalette::Text));
    if (!key) return painter.drawText(inside, Qt::AlignVCenter, name);
    painter.save();
    auto bold = painter.font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.drawText(inside, Qt::AlignTop, text(p.role));
    painter.restore();
    painter.drawText(inside, Qt::AlignBottom, name);
}

void hazard_lanes::draw_edge(QPainter& painter, scenes::hazard_edge const& edge, bool missing) const {
    QRectF const from = place_of(edge.from), to = place_of(edge.to);
    auto const colours = shades_of(palette());
    auto const colour = missing ? colours.error : colours.good;
    bool const same_lane = scene_->points[edge.from].lane == scene_->points[edge.to].lane;
    // Between lanes from side to side; in one lane above what lies between.
    auto const start = same_lane ? QPointF(from.center().x(), from.top()) : QPointF(from.right(), from.center().y());
    auto const end = same_lane ? QPointF(to.center().x(), to.top()) : QPointF(to.left() - 1, to.center().y());
    auto const reach =
        same_lane ? QPointF(0, -lane_height() * 0.45) : QPointF(std::max(24.0, (end.x() - start.x()) * 0.4), 0);
    QPainterPath path(start);
    auto const &p = scene_->points[edge.from], &q = scene_->points[edge.to];
    if (!same_lane && q.column > p.column + 1) {  // along the border of the lanes, past what lies between
        auto const y = q.lane > p.lane ? lane_top(q.lane) : lane_top(q.lane + 1);
        path.cubicTo(start + QPointF(16, 0), QPointF(start.x(), y), QPointF(start.x() + 22, y));
        path.lineTo(end.x() - 26, y);
        path.cubicTo(QPointF(end.x() - 4, y), end - QPointF(18, 0), end);
    } else {
        path.cubicTo(start + reach, same_lane ? end + reach : end - reach, end);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, missing ? 2.4 : 1.6, missing ? Qt::DashLine : Qt::SolidLine));
    painter.drawPath(path);
    draw_arrow_head(painter, end, same_lane ? 90 : 0, colour);
    if (!missing) return;
    auto const words = missing_words();
    QRectF place(0, 0, missing_width(), fontMetrics().height() + 4);
    place.moveCenter(same_lane ? path.pointAtPercent(0.5)
                               : QPointF(end.x() - 22 - place.width() / 2, (start.y() + end.y()) / 2));
    painter.setPen(QPen(colour, 1));
    painter.setBrush(palette().color(QPalette::Base));
    painter.drawRoundedRect(place, 3, 3);
    painter.drawText(place, Qt::AlignCenter, words);
}

// --- choosing ------------------------------------------------------------------------------------------------------

QString hazard_lanes::described(std::size_t number) const {
    auto const& p = scene_->points[number];
    auto out = text(p.name);
    if (!p.role.empty()) out = text(p.role) + QStringLiteral(": ") + out;
    out += tr(" on %1").arg(text(scene_->lanes[p.lane].name));
    if (p.caller && *p.caller != p.lane) out += tr(", called by the %1").arg(text(scene_->lanes[*p.caller].name));
    out += tr(", at %1").arg(text(findings::time_text(p.at)));
    return p.failed ? out + tr(", failed") : out;
}

std::optional<std::size_t> hazard_lanes::point_at(QPoint const& at) const {
    if (!scene_) return {};
    for (std::size_t i = 0; i < scene_->points.size(); ++i)
        if (place_of(i).contains(at)) return i;
    return {};
}

void hazard_lanes::choose(std::size_t number) {
    current_ = number;
    update();
    Q_EMIT call_chosen(scene_->points[number].event.value);
}

void hazard_lanes::mousePressEvent(QMouseEvent* event) {
    if (auto const p = point_at(event->pos())) choose(*p);
}

void hazard_lanes::mouseMoveEvent(QMouseEvent* event) {
    auto const p = point_at(event->pos());
    setCursor(p ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setToolTip(p ? described(*p) : QString());
    Q_EMIT hovered(p ? described(*p) : QString());
}

void hazard_lanes::keyPressEvent(QKeyEvent* event) {
    if (!scene_ || scene_->points.empty()) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Left:
            current_ -= std::min<std::size_t>(current_, 1);
            break;
        case Qt::Key_Right:
            current_ = std::min(current_ + 1, scene_->points.size() - 1);
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return choose(current_);
        default:
            return QWidget::keyPressEvent(event);
    }
    setAccessibleDescription(described(current_));
    update();
}

}  // namespace lastref::gui::widgets
