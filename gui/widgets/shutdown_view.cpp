#include "gui/widgets/shutdown_view.h"

#include "analyzer/findings/wording.h"
#include "gui/widgets/axis.h"
#include "gui/widgets/colours.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace lastref::gui::widgets {

shutdown_view::shutdown_view(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setAccessibleName(tr("Shutdown"));
}

scenes::shutdown_process const* shutdown_view::process() const {
    return scene_ && process_ < scene_->processes.size() ? &scene_->processes[process_] : nullptr;
}

void shutdown_view::set_scene(std::shared_ptr<scenes::shutdown const> scene, std::size_t process) {
    scene_ = std::move(scene);
    process_ = process;
    current_ = 0;
    arrange();
}

// --- layout --------------------------------------------------------------------------------------------------------

void shutdown_view::add_group(fate what, QString const& title, std::vector<scenes::shutdown_item> const& items,
                              int& line) {
    if (items.empty()) return;
    auto const column = columns_.size() - 1;
    headings_.push_back({column, line++, what, title});
    for (auto const& item : items) {
        entries_.push_back({column, line, what, &item});
        line += 2;
    }
    ++line;
}

void shutdown_view::arrange() {
    columns_.clear();
    entries_.clear();
    headings_.clear();
    auto const* p = process();
    if (p != nullptr) {
        for (auto const& phase : p->phases) {
            static constexpr std::array titles{QT_TR_NOOP("After main's last call"), QT_TR_NOOP("Exit handlers"),
                                               QT_TR_NOOP("After the driver shut down")};
            columns_.push_back(
                {tr(titles[static_cast<std::size_t>(phase.step)]),
                 tr("from %1, %2")
                     .arg(text(findings::time_text(phase.begin)), text(scenes::length_text(phase.end - phase.begin))),
                 0});
            int line = 0;
            add_group(fate::failed, tr("Failed"), phase.failed, line);
            add_group(fate::destructors, tr("Destructors ran"), phase.destructors, line);
            add_group(fate::released, tr("Released"), phase.released, line);
            columns_.back().lines = std::max(line, 2);
        }
        columns_.push_back(
            {tr("Left at the end"), p->left.empty() ? tr("nothing") : text(findings::bytes_text(p->left_bytes)), 0});
        int line = 0;
        add_group(fate::left, tr("Never released"), p->left, line);
        add_group(fate::intended, tr("Left on purpose"), p->intended, line);
        columns_.back().lines = line;
        setAccessibleDescription(tr("%1: %2").arg(text(p->name), text(p->ended)));
    }
    setMinimumSize(minimumSizeHint());
    updateGeometry();
    update();
}

void shutdown_view::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) arrange();
    QWidget::changeEvent(event);
}

void shutdown_view::resizeEvent(QResizeEvent*) {
    if (minimumHeight() != needed_height()) setMinimumHeight(needed_height());
    update();
}

// The process and how it ended, and the bar of phases.
int shutdown_view::top() const {
    return line_height() * 2 + 18;
}

int shutdown_view::title_height() const {
    return line_height() * 3 - 6;
}

// All of them, or as many as leave rows of the same length.
std::size_t shutdown_view::in_a_row() const {
    auto const all = std::max<std::size_t>(columns_.size(), 1);
    auto const fit = static_cast<std::size_t>(std::max((width() - 8) / least_column_width(), 1));
    if (fit >= all) return all;
    auto const rows = (all + fit - 1) / fit;
    return (all + rows - 1) / rows;
}

int shutdown_view::lines_of_row(std::size_t row) const {
    int out = 0;
    auto const first = row * in_a_row();
    for (auto i = first; i < std::min(first + in_a_row(), columns_.size()); ++i) out = std::max(out, columns_[i].lines);
    return out;
}

int shutdown_view::column_top(std::size_t number) const {
    int out = top();
    for (std::size_t row = 0; row < number / in_a_row(); ++row)
        out += title_height() + (lines_of_row(row) + 1) * line_height();
    return out;
}

int shutdown_view::line_top(std::size_t column, int line) const {
    return column_top(column) + title_height() + line * line_height();
}

int shutdown_view::needed_height() const {
    if (columns_.empty()) return top() + 2 * line_height();
    auto const last = columns_.size() - 1;
    return line_top(last, lines_of_row(last / in_a_row()) + 1);
}

int shutdown_view::least_column_width() const {
    auto bold = font();
    bold.setBold(true);
    QFontMetrics const metrics(bold);
    auto out = fontMetrics().averageCharWidth() * 30;
    for (auto const& c : columns_) out = std::max(out, metrics.horizontalAdvance(c.title) + 20);
    return out;
}

int shutdown_view::column_width() const {
    return std::max(least_column_width(), (width() - 8) / static_cast<int>(in_a_row()));
}

int shutdown_view::column_left(std::size_t number) const {
    return 4 + static_cast<int>(number % in_a_row()) * column_width();
}

QSize shutdown_view::minimumSizeHint() const {
    return {least_column_width() + 8, needed_height()};
}

QSize shutdown_view::sizeHint() const {
    auto const columns = std::max<int>(static_cast<int>(columns_.size()), 2);
    return {columns * least_column_width() + 8, needed_height()};
}

QRect shutdown_view::place_of(std::size_t number) const {
    auto const& e = entries_[number];
    return {column_left(e.column) + 6, line_top(e.column, e.line), column_width() - 12, 2 * line_height() - 2};
}

// --- words ---------------------------------------------------------------------------------------------------------

QString shutdown_view::words_of(entry const& e) const {
    auto const what = text(e.item->what);
    return e.item->count == 1
               ? what
               : QStringLiteral("%1 × %2").arg(text(findings::counted(static_cast<std::int64_t>(e.item->count))), what);
}

QString shutdown_view::below_of(entry const& e) const {
    QStringList out;
    if (e.item->bytes > 0) out << text(findings::bytes_text(e.item->bytes));
    if (!e.item->how.empty()) out << text(e.item->how);
    return out.join(QStringLiteral(" · "));
}

QString shutdown_view::described(std::size_t number) const {
    auto const& e = entries_[number];
    auto const group = std::find_if(headings_.begin(), headings_.end(),
                                    [&e](heading const& h) { return h.column == e.column && h.what == e.what; });
    auto const below = below_of(e);
    return columns_[e.column].title + QStringLiteral(", ") + group->words + QStringLiteral(": ") + words_of(e) +
           (below.isEmpty() ? QString() : QStringLiteral(" (") + below + QLatin1Char(')'));
}

QColor shutdown_view::colour_of_fate(fate what) const {
    auto const colours = shades_of(palette());
    switch (what) {
        case fate::released:
            return colour_of(scenes::style::release, palette());
        case fate::failed:
            return colours.error;
        case fate::destructors:
            return colour_of(scenes::style::callback, palette());
        case fate::left:
            return colours.warning;
        case fate::intended:
            break;
    }
    return colours.good;
}

// --- painting ------------------------------------------------------------------------------------------------------

void shutdown_view::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (process() == nullptr) {
        painter.setPen(shades_of(palette()).faint);
        painter.drawText(rect(), Qt::AlignCenter, tr("No process used the driver."));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    draw_head(painter);
    draw_columns(painter);
    for (std::size_t i = 0; i < entries_.size(); ++i) draw_entry(painter, i);
}

// Phases as parts of a bar, as long as they took.
void shutdown_view::draw_head(QPainter& painter) const {
    auto const& p = *process();
    auto const colours = shades_of(palette());
    painter.setPen(palette().color(QPalette::Text));
    auto bold = painter.font();
    bold.setBold(true);
    painter.save();
    painter.setFont(bold);
    painter.drawText(QRect(10, 4, width() - 20, line_height()), Qt::AlignVCenter, text(p.name));
    auto const named = painter.fontMetrics().horizontalAdvance(text(p.name));
    painter.restore();
    painter.setPen(p.orderly ? colours.faint : colours.error);
    painter.drawText(QRect(22 + named, 4, width() - named - 32, line_height()), Qt::AlignVCenter, text(p.ended));
    if (p.phases.empty()) return;
    auto const begin = p.phases.front().begin, end = std::max(p.phases.back().end, begin + 1);
    auto const wide = width() - 20.0;
    // A phase without any length is still there.
    auto const least = 6.0,
               share = (wide - least * static_cast<double>(p.phases.size())) / static_cast<double>(end - begin);
    auto left = 10.0;
    for (std::size_t i = 0; i < p.phases.size(); ++i) {
        auto const& phase = p.phases[i];
        auto const length = least + share * static_cast<double>(phase.end - phase.begin);
        auto const fill = mixed(palette().color(QPalette::Base), phase.failed.empty() ? colours.mark : colours.error,
                                0.35 + 0.2 * static_cast<double>(i));
        QRectF const place(left, line_height() + 10, length - 2, line_height());
        painter.fillRect(place, fill);
        if (fontMetrics().horizontalAdvance(columns_[i].title) + 10 < length) {
            painter.setPen(text_on(fill));
            painter.drawText(place, Qt::AlignCenter, columns_[i].title);
        }
        left += length;
    }
}

void shutdown_view::draw_columns(QPainter& painter) const {
    auto const colours = shades_of(palette());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        QRect const head(column_left(i) + 6, column_top(i), column_width() - 12, line_height());
        auto const last_row = i / in_a_row() == (columns_.size() - 1) / in_a_row();
        if (i % in_a_row() > 0) {
            painter.setPen(colours.grid);
            auto const bottom = last_row ? height() : line_top(i, lines_of_row(i / in_a_row()));
            painter.drawLine(column_left(i), head.top(), column_left(i), bottom);
        }
        auto bold = painter.font();
        bold.setBold(true);
        painter.save();
        painter.setFont(bold);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(head, Qt::AlignVCenter, columns_[i].title);
        painter.restore();
        painter.setPen(colours.faint);
        painter.drawText(head.translated(0, line_height()), Qt::AlignVCenter, columns_[i].below);
        bool const empty =
            std::none_of(entries_.begin(), entries_.end(), [i](entry const& e) { return e.column == i; });
        if (empty && i + 1 < columns_.size())
            painter.drawText(QRect(head.left(), line_top(i, 0), head.width(), line_height()), Qt::AlignVCenter,
                             tr("nothing happened"));
    }
    for (auto const& h : headings_) {
        painter.setPen(colour_of_fate(h.what));
        painter.drawText(
            QRect(column_left(h.column) + 6, line_top(h.column, h.line), column_width() - 12, line_height()),
            Qt::AlignVCenter, h.words);
    }
}

void shutdown_view::draw_entry(QPainter& painter, std::size_t number) const {
    auto const& e = entries_[number];
    auto const place = place_of(number);
    auto const colour = colour_of_fate(e.what);
    bool const current = hasFocus() && number == current_;
    painter.fillRect(place, mixed(palette().color(QPalette::Base), colour, current ? 0.24 : 0.09));
    painter.fillRect(QRect(place.left(), place.top(), 3, place.height()), colour);
    auto const inside = place.adjusted(10, 1, -6, -1);
    auto const metrics = fontMetrics();
    auto const below = below_of(e);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(inside, below.isEmpty() ? Qt::AlignVCenter : Qt::AlignTop,
                     metrics.elidedText(words_of(e), Qt::ElideRight, inside.width()));
    painter.setPen(shades_of(palette()).faint);
    painter.drawText(inside, Qt::AlignBottom, metrics.elidedText(below, Qt::ElideRight, inside.width()));
}

// --- choosing ------------------------------------------------------------------------------------------------------

std::optional<std::size_t> shutdown_view::entry_at(QPoint const& at) const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (place_of(i).contains(at)) return i;
    return {};
}

void shutdown_view::choose(std::size_t number) {
    current_ = number;
    setAccessibleDescription(described(number));
    update();
    Q_EMIT call_chosen(entries_[number].item->first.value);
}

void shutdown_view::mousePressEvent(QMouseEvent* event) {
    if (auto const e = entry_at(event->pos())) choose(*e);
}

void shutdown_view::mouseMoveEvent(QMouseEvent* event) {
    auto const e = entry_at(event->pos());
    setCursor(e ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setToolTip(e ? described(*e) : QString());
    Q_EMIT hovered(e ? described(*e) : QString());
}

void shutdown_view::keyPressEvent(QKeyEvent* event) {
    if (entries_.empty()) return QWidget::keyPressEvent(event);
    auto const column = entries_[current_].column;
    auto const in_column = [&](std::size_t wanted) {
        auto const found =
            std::find_if(entries_.begin(), entries_.end(), [wanted](entry const& e) { return e.column == wanted; });
        if (found != entries_.end()) current_ = static_cast<std::size_t>(found - entries_.begin());
    };
    switch (event->key()) {
        case Qt::Key_Up:
            current_ -= std::min<std::size_t>(current_, 1);
            break;
        case Qt::Key_Down:
            current_ = std::min(current_ + 1, entries_.size() - 1);
            break;
        case Qt::Key_Left:
            for (auto c = column; c-- > 0 && entries_[current_].column == column;) in_column(c);
            break;
        case Qt::Key_Right:
            for (auto c = column + 1; c < columns_.size() && entries_[current_].column == column; ++c) in_column(c);
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
