#include "gui/widgets/flame_graph.h"

#include "analyzer/findings/wording.h"
#include "analyzer/symbols/short_name.h"
#include "gui/widgets/axis.h"
#include "gui/widgets/colours.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>

namespace lastref::gui::widgets {
namespace {

constexpr double narrowest = 0.7;  // pixels; narrower frames, and all below them, are not drawn

}  // namespace

flame_graph::flame_graph(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setBackgroundRole(QPalette::Base);
    viewport()->setAutoFillBackground(true);
    setAccessibleName(tr("Flame graph of allocations"));
}

QSize flame_graph::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 110, row_height() * 14};
}

void flame_graph::set_scene(std::shared_ptr<scenes::flame const> scene) {
    scene_ = std::move(scene);
    zoomed_ = current_ = 0;
    searching_ = false;
    matching_.clear();
    setAccessibleDescription(scene_ ? described(0) : QString());
    layout_rows();
}

// --- layout --------------------------------------------------------------------------------------------------------

void flame_graph::layout_rows() {
    auto const rows = scene_ ? static_cast<int>(scene_->depth) + 1 : 0;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(row_height());
    verticalScrollBar()->setRange(0, std::max(0, rows * row_height() - viewport()->height()));
    viewport()->update();
}

void flame_graph::resizeEvent(QResizeEvent*) {
    layout_rows();
}

void flame_graph::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) layout_rows();
    QAbstractScrollArea::changeEvent(event);
}

void flame_graph::place_frames() {
    shown_.clear();
    if (!scene_ || scene_->nodes.empty() || scene_->nodes[0].bytes == 0) return;
    for (auto node = zoomed_; node != 0;) {
        node = scene_->nodes[node].parent;
        auto const row = static_cast<int>(scene_->nodes[node].depth);
        shown_.push_back(
            {QRectF(0, row * row_height() - verticalScrollBar()->value(), viewport()->width(), row_height()), node,
             true});
    }
    place_below(zoomed_, 0, viewport()->width(), static_cast<int>(scene_->nodes[zoomed_].depth));
}

// Children are sorted, so that the first that is too narrow ends its row.
void flame_graph::place_below(std::uint32_t node, double left, double width, int row) {
    auto const top = row * row_height() - verticalScrollBar()->value();
    if (top > viewport()->height()) return;
    shown_.push_back({QRectF(left, top, width, row_height()), node, false});
    auto const& n = scene_->nodes[node];
    if (n.bytes == 0) return;
    auto at = left;
    for (auto c = n.first_child; c < n.first_child + n.children; ++c) {
        auto const part = static_cast<double>(scene_->nodes[c].bytes) / static_cast<double>(n.bytes) * width;
        if (part < narrowest) return;
        place_below(c, at, part, row + 1);
        at += part;
    }
}

// --- painting ------------------------------------------------------------------------------------------------------

void flame_graph::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    place_frames();
    painted_ = 0;
    if (shown_.empty()) {
        painter.setPen(shades_of(palette()).faint);
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("Nothing was allocated then."));
        return;
    }
    for (auto const& s : shown_) {
        if (s.place.bottom() < 0) continue;
        draw_frame(painter, s);
        ++painted_;
    }
}

void flame_graph::draw_frame(QPainter& painter, shown const& what) const {
    auto const base = palette().color(QPalette::Base);
    auto fill = what.node == 0 ? mixed(base, palette().color(QPalette::Text), 0.16)
                               : name_colour(scene_->name_of(what.node), palette());
    if (searching_ && !matches(what.node)) fill = mixed(fill, base, 0.72);
    if (searching_ && matches(what.node)) fill = colour_of(scenes::style::callback, palette());
    if (what.above) fill = mixed(fill, base, 0.5);
    auto const place = what.place.adjusted(0, 0, what.place.width() > 3 ? -1 : 0, -1);
    painter.fillRect(place, fill);
    if (what.node == current_ && hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Text), 2));
        painter.drawRect(place.adjusted(1, 1, -1, -1));
    }
    auto const room = static_cast<int>(place.width()) - 8;
    auto const letters = room / std::max(1, fontMetrics().averageCharWidth());
    if (letters < 3) return;
    auto words = text(symbols::short_name(scene_->name_of(what.node), static_cast<std::size_t>(letters)));
    // That outer scopes are left out needs no letters here: the tip has the whole name.
    if (words.startsWith(QStringLiteral("…::"))) words.remove(0, 3);
    if (words.startsWith(QStringLiteral("...::"))) words.remove(0, 5);
    if (what.node == 0) words = described(0);
    painter.setPen(text_on(fill));
    painter.drawText(place.adjusted(4, 0, -4, 0), Qt::AlignVCenter,
                     fontMetrics().elidedText(words, Qt::ElideRight, room));
}

QString flame_graph::described(std::uint32_t node) const {
    auto const& n = scene_->nodes[node];
    auto const amount =
        tr("%1 in %2").arg(text(findings::bytes_text(n.bytes)), text(findings::counted(n.count, "allocation")));
    if (node == 0) return amount;
    auto const share = scene_->nodes[0].bytes == 0
                           ? 0
                           : 100.0 * static_cast<double>(n.bytes) / static_cast<double>(scene_->nodes[0].bytes);
    return tr("%1: %2 (%3 %)").arg(text(scene_->name_of(node)), amount, locale().toString(share, 'f', 1));
}

// --- search --------------------------------------------------------------------------------------------------------

bool flame_graph::matches(std::uint32_t node) const {
    return node != 0 && searching_ && matching_[scene_->nodes[node].name];
}

std::uint64_t flame_graph::search(QString const& words) {
    searching_ = scene_ && !words.isEmpty();
    viewport()->update();
    if (!searching_) return 0;
    matching_.clear();
    for (auto const& name : scene_->names) matching_.push_back(text(name).contains(words, Qt::CaseInsensitive));
    // A match below a match is counted with it.
    std::uint64_t bytes = 0;
    std::vector<bool> covered(scene_->nodes.size(), false);
    for (std::uint32_t i = 1; i < scene_->nodes.size(); ++i) {
        bool const inside = covered[scene_->nodes[i].parent];
        covered[i] = inside || matches(i);
        if (!inside && covered[i]) bytes += scene_->nodes[i].bytes;
    }
    return bytes;
}

// --- choosing ------------------------------------------------------------------------------------------------------

std::optional<std::uint32_t> flame_graph::node_at(QPoint const& at) const {
    for (auto const& s : shown_)
        if (s.place.contains(at)) return s.node;
    return {};
}

void flame_graph::zoom_to(std::uint32_t node) {
    if (!scene_ || node >= scene_->nodes.size()) return;
    zoomed_ = node;
    current_ = node;
    viewport()->update();
}

void flame_graph::choose(std::uint32_t node, bool zoom) {
    current_ = node;
    if (zoom) zoom_to(node);
    setAccessibleDescription(described(node));
    auto const top = static_cast<int>(scene_->nodes[node].depth) * row_height();
    auto* const bar = verticalScrollBar();
    if (top < bar->value()) bar->setValue(top);
    if (top + row_height() > bar->value() + viewport()->height())
        bar->setValue(top + row_height() - viewport()->height());
    viewport()->update();
    Q_EMIT hovered(described(node));
    Q_EMIT frame_chosen(node);
}

void flame_graph::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    place_frames();
    if (auto const node = node_at(event->pos())) choose(*node, true);
}

void flame_graph::mouseMoveEvent(QMouseEvent* event) {
    auto const node = node_at(event->pos());
    Q_EMIT hovered(node ? described(*node) : QString());
}

void flame_graph::leaveEvent(QEvent*) {
    Q_EMIT hovered({});
}

bool flame_graph::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    auto const* help = static_cast<QHelpEvent*>(event);
    auto const node = node_at(help->pos());
    QToolTip::showText(help->globalPos(), node ? described(*node) : QString(), viewport());
    return true;
}

void flame_graph::step(int key) {
    auto const& n = scene_->nodes[current_];
    auto const& parent = scene_->nodes[n.parent];
    switch (key) {
        case Qt::Key_Up:
            return choose(n.parent, false);
        case Qt::Key_Down:
            if (n.children > 0) choose(n.first_child, false);
            return;
        case Qt::Key_Left:
            if (current_ > parent.first_child) choose(current_ - 1, false);
            return;
        default:
            if (current_ != 0 && current_ + 1 < parent.first_child + parent.children) choose(current_ + 1, false);
    }
}

void flame_graph::keyPressEvent(QKeyEvent* event) {
    if (!scene_ || scene_->nodes.empty()) return QAbstractScrollArea::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Left:
        case Qt::Key_Right:
            return step(event->key());
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return choose(current_, true);
        case Qt::Key_Backspace:
            return choose(scene_->nodes[zoomed_].parent, true);
        case Qt::Key_Home:
            return choose(0, true);
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace lastref::gui::widgets
