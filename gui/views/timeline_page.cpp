#include "gui/views/timeline_page.h"

#include "gui/models/filter_offers.h"
#include "gui/views/call_details.h"
#include "gui/widgets/timeline_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace lastref::gui {

timeline_page::timeline_page(QWidget* parent)
    : page(parent), view_(new widgets::timeline_view(this)), details_(new call_details(this)) {
    view_->setAccessibleName(tr("Timeline"));
    connect(view_, &widgets::timeline_view::hovered, this, &page::told);
    connect(view_, &widgets::timeline_view::selected, this,
            [this](qint64 event) { details_->show_call(trace_, store::event_id{event}); });
    connect(details_, &call_details::told, this, &page::told);
    auto* const splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(view_);
    splitter->addWidget(details_);
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(make_buttons());
    layout->addWidget(splitter, 1);
}

QWidget* timeline_page::make_buttons() {
    auto* const out = new QWidget(this);
    auto* const layout = new QHBoxLayout(out);
    layout->setContentsMargins(8, 8, 8, 0);
    auto* const hint = new QLabel(tr("Wheel zooms, drag moves, a click chooses, Home shows all"), out);
    auto* const all = new QPushButton(tr("Show &all"), out);
    auto* const only = new QPushButton(tr("&Filter by what is seen"), out);
    only->setToolTip(tr("Show only what happened in this stretch of time, on every page"));
    connect(all, &QPushButton::clicked, this, [this] { view_->show_all(); });
    connect(only, &QPushButton::clicked, this,
            [this] { Q_EMIT filter_asked(time_filter(view_->visible_from(), view_->visible_to())); });
    layout->addWidget(hint);
    layout->addStretch();
    layout->addWidget(only);
    layout->addWidget(all);
    return out;
}

QString timeline_page::title() const {
    return tr("Timeline");
}

void timeline_page::show_trace(trace_pointer const& trace) {
    bool const same = trace_ && trace && trace_->path == trace->path;
    auto const chosen = same ? view_->selected_event() : 0;
    trace_ = trace;
    view_->set_scene(trace ? trace->timeline : nullptr);
    if (chosen != 0)
        view_->select(chosen);
    else
        details_->show_call(trace_, {});
}

void timeline_page::set_filters(filter_stack const& filters) {
    if (auto const time = filters.of(filter_kind::time)) view_->show_range(time->value, time->last);
}

void timeline_page::choose_event(store::event_id event) {
    view_->select(event.value);
    details_->show_call(trace_, event);
}

QWidget& timeline_page::picture() {
    return *view_;
}

}  // namespace lastref::gui
