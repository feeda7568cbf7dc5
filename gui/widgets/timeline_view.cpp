#include "gui/widgets/timeline_view.h"

#include "analyzer/findings/wording.h"
#include "gui/widgets/colours.h"

#include <QKeyEvent>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lastref::gui::widgets {
namespace {

constexpr int gap = 3;  // between tracks
constexpr std::size_t most_related = 512;

bool has_depth(scenes::track const& t) {
    return t.kind == scenes::track_kind::thread || t.kind == scenes::track_kind::ranges;
}

QString length_text(time_ns length) {
    return text(scenes::length_text(length));
}

}  // namespace

timeline_view::timeline_view(QWidget* parent) : time_view(parent) {
    setAccessibleName(tr("Timeline"));
    setAccessibleDescription(tr("Calls of all threads and streams over time"));
}

void timeline_view::set_scene(std::shared_ptr<scenes::call_timeline const> scene) {
    scene_ = std::move(scene);
    selection_.reset();
    related_.clear();
    current_ = 0;
    arrange();
    if (scene_)
        set_bounds(scene_->begin(), scene_->end(), scene_->marks());
    else
        set_bounds(0, 1000, {});
}

void timeline_view::show_only(std::function<bool(scenes::track const&)> wanted) {
    wanted_ = std::move(wanted);
    arrange();
}

void timeline_view::arrange() {
    rows_.clear();
    height_ = 0;
    label_width_ = 0;
    if (!scene_) return;
    auto const line = row_height();
    auto const widest = fontMetrics().averageCharWidth() * 42;
    for (std::size_t g = 0; g < scene_->groups().size(); ++g) {
        auto const& group = scene_->groups()[g];
        auto const first = scene_->tracks().begin() + static_cast<std::ptrdiff_t>(group.first_track);
        if (wanted_ && std::none_of(first, first + static_cast<std::ptrdiff_t>(group.tracks), wanted_)) continue;
        rows_.push_back({height_, line + gap, {}, g});
        height_ += line + gap;
        for (auto t = group.first_track; t < group.first_track + group.tracks; ++t) {
            auto const& track = scene_->tracks()[t];
            if (wanted_ && !wanted_(track)) continue;
            auto const height = line * track.depth + gap;
            rows_.push_back({height_, height, t, g});
            height_ += height;
            label_width_ = std::max(label_width_, fontMetrics().horizontalAdvance(text(track.name)) + 24);
        }
    }
    label_width_ = std::min(label_width_, widest);
    layout_changed();
}

void timeline_view::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) arrange();
    time_view::changeEvent(event);
}

// --- painting ------------------------------------------------------------------------------------------------------

void timeline_view::mix_colours() {
    auto const base = palette().color(QPalette::Base);
    for (std::size_t s = 0; s < tones_.size(); ++s) {
        auto const full = colour_of(static_cast<scenes::style>(s), palette());
        for (int i = 0; i < tones; ++i) {
            auto const fill = mixed(base, full, 0.45 + 0.55 * i / (tones - 1));
            tones_[s][static_cast<std::size_t>(i)] = {fill, text_on(fill), {}};
        }
    }
    error_ = shades_of(palette()).error;
}

void timeline_view::draw(QPainter& painter) {
    looked_at_ = painted_ = 0;
    if (!scene_) return;
    mix_colours();
    auto const area = plot();
    painter.setClipRect(0, area.top(), viewport()->width(), area.height());
    for (auto const& r : rows_) {
        if (r.top - scrolled() + r.height < 0) continue;
        if (r.top - scrolled() > area.height()) break;
        draw_row(painter, r);
    }
    painter.setClipRect(area);
    draw_selection(painter);
}

void timeline_view::draw_row(QPainter& painter, row const& r) {
    auto const area = plot();
    QRect const across(0, area.top() + r.top - scrolled(), viewport()->width(), r.height);
    auto const colours = shades_of(palette());
    if (!r.track) {
        painter.fillRect(across.adjusted(0, 0, 0, -gap), colours.stripe);
        auto bold = painter.font();
        bold.setBold(true);
        painter.save();
        painter.setFont(bold);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(across.adjusted(6, 0, -6, -gap), Qt::AlignVCenter, text(scene_->groups()[r.group].name));
        painter.restore();
        return;
    }
    draw_label(painter, r, across);
    painter.setPen(colours.grid);
    painter.drawLine(across.left(), across.bottom(), across.right(), across.bottom());
    painter.save();
    painter.setClipRect(area.intersected(across));
    draw_calls(painter, r, across);
    painter.restore();
}

void timeline_view::draw_label(QPainter& painter, row const& r, QRect const& area) const {
    QRect const place(area.left(), area.top(), plot().left(), area.height() - 1);
    if (*r.track == current_ && hasFocus()) painter.fillRect(place, shades_of(palette()).stripe);
    if (*r.track == current_)
        painter.fillRect(place.left(), place.top(), 3, place.height(), shades_of(palette()).selection);
    painter.setPen(palette().color(QPalette::Text));
    auto const words = text(scene_->tracks()[*r.track].name);
    auto const line = place.adjusted(10, 0, -8, -(place.height() - row_height()));
    painter.drawText(line, Qt::AlignVCenter, fontMetrics().elidedText(words, Qt::ElideMiddle, line.width()));
}

void timeline_view::draw_calls(QPainter& painter, row const& r, QRect const& area) {
    auto const& track = scene_->tracks()[*r.track];
    auto const s = scale();
    auto const pixel = 1.0 / devicePixelRatioF();
    // Two pixels are one block: finer costs twice as much and cannot be read.
    auto const length = static_cast<double>(s.to - s.from) / s.width * 2 * pixel;
    auto const finest = std::max<time_ns>(static_cast<time_ns>(length), 1);
    std::array<double, scenes::span::deepest + 1> ends;  // of what is painted already, by row
    ends.fill(-1);
    double failure_end = -1;
    auto const near = 1.75 * pixel;
    bool const nested = has_depth(track);
    looked_at_ += scene_->visit(track, s.from, s.to, finest, [&](scenes::block const& b) {
        auto const left = s.x(std::max(b.begin, s.from));
        auto const right = std::max(s.x(std::min(b.end, s.to)), left + 2 * pixel);
        auto const depth = nested && b.calls == 1 ? b.depth : 0;
        // Of those that fall on the same two pixels the first is painted, and the first failure.
        if (right <= ends[depth] + near && (!b.failed || right <= failure_end + near)) return;
        auto const lines = nested && b.calls > 1 ? b.depth + 1 : 1;
        QRectF const place(left, area.top() + 1 + depth * row_height(), right - left, lines * row_height() - 2);
        draw_block(b, place);
        ends[depth] = std::max(ends[depth], right);
        if (b.failed) failure_end = right;
    });
    flush(painter, track);
}

void timeline_view::draw_block(scenes::block const& b, QRectF const& place) {
    auto& its = tones_[static_cast<std::size_t>(b.style)][static_cast<std::size_t>(b.busy * (tones - 1))];
    its.places.push_back(place);
    if (b.failed) failures_.emplace_back(place.left(), place.bottom() - 3, std::max(place.width(), 3.0), 3);
    if (b.calls == 1 && place.width() >= 3 * fontMetrics().averageCharWidth())
        labels_.push_back({place, b.entry, its.text});
    ++painted_;
}

void timeline_view::flush(QPainter& painter, scenes::track const& t) {
    auto const paint = [&painter](QColor const& colour, std::vector<QRectF>& places) {
        if (places.empty()) return;
        painter.setBrush(colour);
        painter.drawRects(places.data(), static_cast<int>(places.size()));
        places.clear();
    };
    painter.setPen(Qt::NoPen);
    for (auto& of_style : tones_)
        for (auto& each : of_style) paint(each.fill, each.places);
    paint(error_, failures_);
    painter.setBrush(Qt::NoBrush);
    for (auto const& l : labels_) {
        auto const inside = l.place.adjusted(4, 0, -3, 0);
        auto const words = text(scene_->name_of(t, scene_->at(t, l.entry)));
        painter.setPen(l.colour);
        painter.drawText(inside, Qt::AlignVCenter,
                         fontMetrics().elidedText(words, Qt::ElideRight, static_cast<int>(inside.width())));
    }
    labels_.clear();
}

QRectF timeline_view::place_of(row const& r, scenes::span const& s) const {
    auto const with = scale();
    auto const left = with.x(s.begin()), right = with.x(scene_->end_of(s));
    auto const depth = has_depth(scene_->tracks()[*r.track]) ? s.depth() : 0;
    return {left, static_cast<double>(plot().top() + r.top - scrolled() + 1 + depth * row_height()),
            std::max(right - left, 2.0), static_cast<double>(row_height() - 2)};
}

void timeline_view::draw_selection(QPainter& painter) const {
    if (!selection_) return;
    auto const colours = shades_of(palette());
    auto const outline = [&](scenes::call_timeline::place const& p, double width) {
        auto const* r = row_of(p.track);
        if (r == nullptr) return;
        auto const place = place_of(*r, scene_->at(scene_->tracks()[p.track], p.entry));
        if (place.right() < plot().left() || place.left() > plot().right()) return;
        painter.setPen(QPen(palette().color(QPalette::Text), width));
        painter.drawRect(place.adjusted(-width, 0, width, 0));
    };
    painter.setRenderHint(QPainter::Antialiasing);
    for (auto const& p : related_) outline(p, 1);
    painter.setPen(QPen(colours.selection, 1));
    outline(*selection_, 2);
}

// --- choosing ------------------------------------------------------------------------------------------------------

timeline_view::row const* timeline_view::row_at(int y) const {
    auto const at = y - plot().top() + scrolled();
    for (auto const& r : rows_)
        if (at >= r.top && at < r.top + r.height) return &r;
    return nullptr;
}

timeline_view::row const* timeline_view::row_of(std::size_t track) const {
    auto const found = std::find_if(rows_.begin(), rows_.end(), [track](row const& r) { return r.track == track; });
    return found == rows_.end() ? nullptr : &*found;
}

std::optional<timeline_view::hit> timeline_view::hit_at(QPoint const& at) const {
    if (!scene_ || !plot().contains(at)) return {};
    auto const* r = row_at(at.y());
    if (r == nullptr || !r->track) return {};
    auto const& track = scene_->tracks()[*r->track];
    auto const depth = (at.y() - plot().top() + scrolled() - r->top) / row_height();
    auto const s = scale();
    auto const found = scene_->pick(track, s.at(at.x() + 0.5), 3 * s.per_pixel(), has_depth(track) ? depth : -1);
    if (!found) return {};
    return hit{*r->track, *found};
}

QString timeline_view::tip(QPoint const& at) const {
    auto const* r = scene_ && at.x() < plot().left() ? row_at(at.y()) : nullptr;
    if (r != nullptr && r->track) return text(scene_->tracks()[*r->track].name);
    auto const found = hit_at(at);
    if (!found) return {};
    auto const& track = scene_->tracks()[found->track];
    auto const& b = found->block;
    auto const when = text(findings::time_text(b.begin));
    if (b.calls > 1)
        return tr("%1 calls within %2, from %3 on")
            .arg(text(findings::counted(std::int64_t{b.calls})), length_text(b.end - b.begin), when);
    auto const& s = scene_->at(track, b.entry);
    auto words = text(scene_->name_of(track, s)) + QLatin1Char('\n') + tr("on %1, at %2").arg(text(track.name), when);
    if (s.open())
        words += QLatin1Char('\n') + tr("had not returned when recording ended");
    else if (s.length() > 0)
        words += QLatin1Char('\n') + tr("took %1").arg(length_text(s.length()));
    if (s.failed()) words += QLatin1Char('\n') + tr("failed");
    return words;
}

void timeline_view::mark(scenes::call_timeline::place place) {
    selection_ = place;
    related_.clear();
    current_ = place.track;
    auto const& track = scene_->tracks()[place.track];
    auto const& chosen = scene_->at(track, place.entry);
    setAccessibleDescription(tr("%1 on %2").arg(text(scene_->name_of(track, chosen)), text(track.name)));
    for (auto const index : scene_->spans_of(chosen.object())) {
        if (related_.size() == most_related) break;
        auto const& other = scene_->spans()[index];
        if (auto const there = scene_->find(other.event()); there && other.event() != chosen.event())
            related_.push_back(*there);
    }
    viewport()->update();
}

void timeline_view::choose(hit const& what) {
    mark({what.track, what.block.entry});
    auto const& track = scene_->tracks()[what.track];
    auto const& s = scene_->at(track, what.block.entry);
    if (track.kind == scenes::track_kind::ranges) return;
    Q_EMIT selected(s.event(), s.object());
}

void timeline_view::click(QPoint const& at) {
    auto const* r = row_at(at.y());
    if (r != nullptr && r->track) current_ = *r->track;
    if (auto const found = hit_at(at))
        choose(*found);
    else if (selection_ && plot().contains(at))
        clear_selection(), Q_EMIT selected(0, 0);
    viewport()->update();
}

void timeline_view::double_click(QPoint const& at) {
    auto const found = hit_at(at);
    if (!found) return;
    auto const length = std::max<time_ns>(found->block.end - found->block.begin, 200);
    show_range(found->block.begin - length, found->block.end + length);
}

qint64 timeline_view::selected_event() const {
    return selection_ ? scene_->at(scene_->tracks()[selection_->track], selection_->entry).event() : 0;
}

void timeline_view::clear_selection() {
    selection_.reset();
    related_.clear();
    viewport()->update();
}

bool timeline_view::select(qint64 event) {
    auto const place =
        scene_ && event > 0 && event <= UINT32_MAX ? scene_->find(static_cast<std::uint32_t>(event)) : std::nullopt;
    if (!place) return false;
    mark(*place);
    auto const& s = scene_->at(scene_->tracks()[place->track], place->entry);
    if (auto const* r = row_of(place->track)) scroll_to(r->top, r->top + r->height);
    auto const half = (visible_to() - visible_from()) / 2;
    if (s.begin() < visible_from() || s.begin() > visible_to()) show_range(s.begin() - half, s.begin() + half);
    return true;
}

// --- keys ----------------------------------------------------------------------------------------------------------

void timeline_view::choose_track(int step) {
    if (!scene_ || scene_->tracks().empty()) return;
    auto const last = static_cast<std::ptrdiff_t>(scene_->tracks().size()) - 1;
    auto next = static_cast<std::ptrdiff_t>(current_) + step;
    while (next >= 0 && next <= last && row_of(static_cast<std::size_t>(next)) == nullptr) next += step;  // left out
    if (next < 0 || next > last) return;
    current_ = static_cast<std::size_t>(next);
    setAccessibleDescription(text(scene_->tracks()[current_].name));
    if (auto const* r = row_of(current_)) scroll_to(r->top, r->top + r->height);
    viewport()->update();
}

void timeline_view::choose_call(int step) {
    if (!scene_ || current_ >= scene_->tracks().size()) return;
    auto const& track = scene_->tracks()[current_];
    if (track.entries.empty()) return;
    auto const last = static_cast<std::ptrdiff_t>(track.entries.size()) - 1;
    std::ptrdiff_t entry = 0;
    if (selection_ && selection_->track == current_)
        entry = std::clamp<std::ptrdiff_t>(selection_->entry + step, 0, last);
    else if (auto const near = scene_->pick(track, visible_from() + (visible_to() - visible_from()) / 2,
                                            visible_to() - visible_from()))
        entry = near->entry;
    auto const& s = scene_->at(track, static_cast<std::uint32_t>(entry));
    auto const half = (visible_to() - visible_from()) / 2;
    if (s.begin() < visible_from() || s.begin() > visible_to()) show_range(s.begin() - half, s.begin() + half);
    choose({current_, {s.begin(), scene_->end_of(s), {}, 0, false, 1, 1, static_cast<std::uint32_t>(entry)}});
}

void timeline_view::zoom_to_selection() {
    if (!selection_) return;
    auto const& s = scene_->at(scene_->tracks()[selection_->track], selection_->entry);
    auto const around = std::max<time_ns>((scene_->end_of(s) - s.begin()) * 2, 1000);
    show_range(s.begin() - around, scene_->end_of(s) + around);
}

void timeline_view::keyPressEvent(QKeyEvent* event) {
    bool const control = (event->modifiers() & Qt::ControlModifier) != 0;
    switch (event->key()) {
        case Qt::Key_Up:
            return choose_track(-1);
        case Qt::Key_Down:
            return choose_track(1);
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (control) return choose_call(event->key() == Qt::Key_Left ? -1 : 1);
            return time_view::keyPressEvent(event);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return zoom_to_selection();
        case Qt::Key_Escape:
            if (!selection_) return event->ignore();
            clear_selection();
            return Q_EMIT selected(0, 0);
        default:
            time_view::keyPressEvent(event);
    }
}

}  // namespace lastref::gui::widgets
