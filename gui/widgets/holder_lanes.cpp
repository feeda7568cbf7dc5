#include "gui/widgets/holder_lanes.h"

#include "analyzer/findings/wording.h"
#include "gui/widgets/colours.h"

#include <QKeyEvent>

#include <algorithm>
#include <set>

namespace lastref::gui::widgets {

holder_lanes::holder_lanes(QWidget* parent) : time_view(parent) {
    setAccessibleName(tr("Life of a payload"));
}

void holder_lanes::set_scene(std::shared_ptr<scenes::payload_story const> scene) {
    scene_ = std::move(scene);
    label_width_ = 0;
    setAccessibleDescription(scene_ ? text(scene_->verdict()) : QString());
    if (!scene_) return set_bounds(0, 1000, {});
    for (auto const& h : scene_->holders)
        label_width_ = std::max(label_width_, fontMetrics().horizontalAdvance(text(h.name)));
    label_width_ = std::min(label_width_ + 24, fontMetrics().averageCharWidth() * 40);
    chosen_ = scene_->held_until();
    set_bounds(std::min(scene_->created_at, scene_->marks.empty() ? scene_->created_at : scene_->marks.front().at),
               scene_->end, scene_->marks);
    show_all();
}

int holder_lanes::content_height() const {
    return scene_ ? static_cast<int>(scene_->holders.size() + 1) * lane_height() + gap : 0;
}

QRect holder_lanes::lane(std::size_t number) const {
    auto const area = plot();
    return {area.left(), area.top() + gap + static_cast<int>(number) * lane_height() - scrolled(), area.width(),
            row_height()};
}

// --- painting ------------------------------------------------------------------------------------------------------

void holder_lanes::draw(QPainter& painter) {
    if (!scene_) return;
    auto const area = plot();
    painter.setClipRect(0, area.top(), viewport()->width(), area.height());
    draw_life(painter);
    for (std::size_t i = 0; i < scene_->holders.size(); ++i) draw_holder(painter, i);
    auto const x = scale().x(chosen_);
    painter.setPen(QPen(shades_of(palette()).selection, 2));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
}

void holder_lanes::draw_piece(QPainter& painter, QRect const& in, time_ns from, time_ns to, QColor const& fill,
                              QString const& words) const {
    auto const s = scale();
    auto const left = std::max(s.x(from), static_cast<double>(in.left())), right = std::min(s.x(to), in.right() + 1.0);
    if (right < in.left() || left > in.right()) return;
    QRectF const place(left, in.top(), std::max(right - left, 2.0), in.height());
    painter.fillRect(place, fill);
    if (fontMetrics().horizontalAdvance(words) + 8 > place.width()) return;
    painter.setPen(text_on(fill));
    painter.drawText(place.adjusted(5, 0, -3, 0), Qt::AlignVCenter, words);
}

void holder_lanes::draw_life(QPainter& painter) const {
    auto const place = lane(0);
    painter.setPen(palette().color(QPalette::Text));
    auto bold = painter.font();
    bold.setBold(true);
    painter.save();
    painter.setFont(bold);
    painter.drawText(QRect(8, place.top(), place.left() - 14, place.height()), Qt::AlignVCenter, tr("Its life"));
    painter.restore();
    auto const held_until = scene_->held_until(), due_until = scene_->destructor_at.value_or(scene_->end);
    auto const held = colour_of(scenes::style::reference, palette());
    draw_piece(painter, place, scene_->created_at, held_until, held, tr("references are held"));
    if (due_until > held_until + 1)
        draw_piece(painter, place, held_until, due_until, mixed(palette().color(QPalette::Base), held, 0.35),
                   tr("destructor is due"));
    if (!scene_->destructor_at) return;
    auto const waits_until = scene_->freed_at.value_or(scene_->bytes > 0 ? scene_->end : *scene_->destructor_at);
    if (waits_until > *scene_->destructor_at)
        draw_piece(painter, place, *scene_->destructor_at, waits_until, colour_of(scenes::style::callback, palette()),
                   tr("waits for its clean-up"));
    auto const x = scale().x(*scene_->destructor_at);
    painter.setPen(QPen(palette().color(QPalette::Text), 2));
    painter.drawLine(QPointF(x, place.top() - 2), QPointF(x, place.bottom() + 2));
}

void holder_lanes::draw_holder(QPainter& painter, std::size_t number) const {
    auto const& h = scene_->holders[number];
    auto const place = lane(number + 1);
    auto const colours = shades_of(palette());
    painter.setPen(colours.grid);
    painter.drawLine(8, place.top() - gap / 2, viewport()->width(), place.top() - gap / 2);
    painter.setPen(palette().color(QPalette::Text));
    QRect const label(8, place.top(), place.left() - 14, place.height());
    painter.drawText(label, Qt::AlignVCenter, fontMetrics().elidedText(text(h.name), Qt::ElideMiddle, label.width()));
    // Its own life as a thin line, the references as bars on it.
    auto const s = scale();
    auto const gone = h.gone_at.value_or(scene_->end);
    if (h.kind != scenes::holder_kind::program) {
        painter.setPen(QPen(colours.faint, 1));
        auto const left = std::max<double>(s.x(h.made_at), place.left());
        if (left <= s.x(gone))
            painter.drawLine(QPointF(left, place.center().y()), QPointF(s.x(gone), place.center().y()));
    }
    auto const fill = h.kind == scenes::holder_kind::program  ? colour_of(scenes::style::allocate, palette())
                      : h.kind == scenes::holder_kind::launch ? colour_of(scenes::style::launch, palette())
                                                              : colour_of(scenes::style::graph, palette());
    for (std::size_t i = 0; i < h.references.size(); ++i) {
        auto const& r = h.references[i];
        auto const until = i + 1 < h.references.size() ? h.references[i + 1].at : scene_->end;
        if (r.count != 0)
            draw_piece(painter, place, r.at, until, r.count > 0 ? fill : colours.error, QString::number(r.count));
    }
}

// --- choosing ------------------------------------------------------------------------------------------------------

std::optional<std::size_t> holder_lanes::holder_at(QPoint const& at) const {
    if (!scene_ || !viewport()->rect().contains(at)) return {};
    for (std::size_t i = 0; i < scene_->holders.size(); ++i)
        if (lane(i + 1).top() <= at.y() && at.y() < lane(i + 1).top() + lane_height()) return i;
    return {};
}

QString holder_lanes::life_at(time_ns at) const {
    if (at < scene_->created_at) return tr("not created yet");
    if (scene_->destructor_at && at >= *scene_->destructor_at)
        return scene_->freed_at && at >= *scene_->freed_at ? tr("cleaned up") : tr("its destructor has run");
    auto const count = scene_->references_at(at);
    return count == 1 ? tr("1 reference") : tr("%1 references").arg(count);
}

QString holder_lanes::tip(QPoint const& at) const {
    if (!scene_) return {};
    auto const when = scale().at(at.x());
    auto out = at.x() < plot().left() ? QString() : tr("at %1: %2").arg(text(findings::time_text(when)), life_at(when));
    auto const holder = holder_at(at);
    if (!holder) return out;
    auto const& h = scene_->holders[*holder];
    out += (out.isEmpty() ? QString() : QStringLiteral("\n")) + text(h.name);
    if (at.x() >= plot().left()) out += tr(" holds %1").arg(h.count_at(when));
    if (h.launches > 0)
        out += QLatin1Char('\n') + tr("launched %1 times, last at %2 on %3")
                                       .arg(text(findings::counted(static_cast<std::int64_t>(h.launches))),
                                            text(findings::time_text(h.last_launch)), text(h.last_stream));
    return out;
}

void holder_lanes::choose_time(time_ns at) {
    chosen_ = at;
    viewport()->update();
}

void holder_lanes::click(QPoint const& at) {
    if (!scene_ || !plot().contains(at)) return;
    choose_time(std::min(scale().at(at.x()), scene_->end));
    Q_EMIT time_chosen(chosen_);
}

void holder_lanes::choose_change(int step) {
    if (!scene_) return;
    std::set<time_ns> changes{scene_->created_at, scene_->end};
    for (auto const& h : scene_->holders)
        for (auto const& r : h.references) changes.insert(r.at);
    auto next = step > 0 ? changes.upper_bound(chosen_) : changes.lower_bound(chosen_);
    if (step < 0 && next != changes.begin()) --next;
    if (next == changes.end()) --next;
    choose_time(*next);
    auto const half = (visible_to() - visible_from()) / 2;
    if (chosen_ < visible_from() || chosen_ > visible_to()) show_range(chosen_ - half, chosen_ + half);
    setAccessibleDescription(tr("at %1: %2").arg(text(findings::time_text(chosen_)), life_at(chosen_)));
    Q_EMIT time_chosen(chosen_);
}

void holder_lanes::keyPressEvent(QKeyEvent* event) {
    bool const control = (event->modifiers() & Qt::ControlModifier) != 0;
    if (control && event->key() == Qt::Key_Left) return choose_change(-1);
    if (control && event->key() == Qt::Key_Right) return choose_change(1);
    time_view::keyPressEvent(event);
}

}  // namespace lastref::gui::widgets
