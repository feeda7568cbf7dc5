#include "gui/views/chart_group.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {

chart_group::chart_group(QWidget* parent, Qt::Orientation direction)
    : QWidget(parent), splitter_(new QSplitter(direction, this)) {
    splitter_->setChildrenCollapsible(false);
    splitter_->setObjectName(QStringLiteral("charts"));
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter_);
}

widgets::chart_view* chart_group::add_chart(QString const& name) {
    auto* const out = new widgets::chart_view(this);
    out->setAccessibleName(name);
    out->setMinimumHeight(90);
    charts_.push_back(out);
    add(name, out);
    connect(out, &widgets::chart_view::hovered, this, &chart_group::hovered);
    connect(out, &widgets::chart_view::label_width_changed, this, &chart_group::line_up);
    connect(out, &widgets::chart_view::visible_range_changed, this,
            [this, out](qint64 from, qint64 to) { follow(out, from, to); });
    return out;
}

void chart_group::add(QString const& name, QWidget* other) {
    auto* const named = new QWidget(splitter_);
    auto* const layout = new QVBoxLayout(named);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->setSpacing(2);
    auto* const title = new QLabel(name, named);
    auto font = title->font();
    font.setBold(true);
    title->setFont(font);
    title->setIndent(8);
    layout->addWidget(title);
    layout->addWidget(other, 1);
    splitter_->addWidget(named);
}

// One below the other they share an axis of time only where they begin at the same place.
void chart_group::line_up() {
    if (splitter_->orientation() != Qt::Vertical) return;
    int widest = 0;
    for (auto const* const each : charts_) widest = std::max(widest, each->needed_label_width());
    for (auto* const each : charts_) each->set_label_width(widest);
}

// Each that follows tells of its new range in turn: that is not followed again.
void chart_group::follow(widgets::chart_view const* leader, qint64 from, qint64 to) {
    if (following_) return;
    following_ = true;
    for (auto* const each : charts_)
        if (each != leader) each->show_range(from, to);
    following_ = false;
}

}  // namespace lastref::gui
