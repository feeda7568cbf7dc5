#include "gui/views/timeline_page.h"

#include "gui/models/filter_offers.h"
#include "gui/views/call_details.h"
#include "gui/views/rich_text.h"
#include "gui/widgets/colours.h"
#include "gui/widgets/timeline_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace lastref::gui {

timeline_page::timeline_page(QWidget* parent)
    : page(parent),
      view_(new widgets::timeline_view(this)),
      details_(new call_details(this)),
      legend_(new QLabel(this)) {
    view_->setAccessibleName(tr("Timeline"));
    connect(view_, &widgets::timeline_view::hovered, this, &page::told);
    connect(view_, &widgets::timeline_view::selected, this,
            [this](qint64 event) { details_->show_call(trace_, store::event_id{event}); });
    pass_on(*details_, static_cast<page*>(this));
    auto* const splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(view_);
    splitter->addWidget(details_);
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({7600, 2400});
    splitter->setObjectName(QStringLiteral("details"));
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(make_buttons());
    layout->addWidget(splitter, 1);
}

QWidget* timeline_page::make_buttons() {
    auto* const out = new QWidget(this);
    auto* const layout = new QHBoxLayout(out);
    layout->setContentsMargins(8, 8, 8, 0);
    legend_->setWordWrap(true);
    legend_->setToolTip(tr("Wheel zooms, drag moves, a click chooses, Home shows all"));
    legend_->setAccessibleName(tr("What the colours mean"));
    auto* const all = new QPushButton(tr("Show &all"), out);
    auto* const only = new QPushButton(tr("&Filter by what is seen"), out);
    only->setToolTip(tr("Show only what happened in this stretch of time, on every page"));
    connect(all, &QPushButton::clicked, this, [this] { view_->show_all(); });
    connect(only, &QPushButton::clicked, this,
            [this] { Q_EMIT filter_asked(time_filter(view_->visible_from(), view_->visible_to())); });
    layout->addWidget(legend_, 1);
    layout->addWidget(only);
    layout->addWidget(all);
    return out;
}

// The styles that occur, each in its colour.
void timeline_page::show_legend() {
    QStringList words;
    for (int i = 0; trace_ && i < static_cast<int>(scenes::style::count); ++i) {
        auto const style = static_cast<scenes::style>(i);
        if (!trace_->timeline->has(style)) continue;
        auto const colour = widgets::colour_of(style, palette()).name(QColor::HexRgb);
        words << QStringLiteral("<span style=\"white-space:nowrap\"><span style=\"color:%1\">■</span>&nbsp;%2</span>")
                     .arg(colour, tr(scenes::name_of(style)));
    }
    legend_->setText(words.join(QStringLiteral(" &nbsp; ")));
}

void timeline_page::changeEvent(QEvent* event) {
    page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && legend_) show_legend();
}

QString timeline_page::title() const {
    return tr("Timeline");
}

void timeline_page::show_trace(trace_pointer const& trace) {
    bool const same = trace_ && trace && trace_->path == trace->path;
    auto const chosen = same ? view_->selected_event() : 0;
    trace_ = trace;
    view_->set_scene(trace ? trace->timeline : nullptr);
    show_filtered();
    show_legend();
    if (chosen != 0)
        view_->select(chosen);
    else
        details_->show_call(trace_, {});
}

void timeline_page::set_filters(filter_stack const& filters) {
    auto const before = filters_.of(filter_kind::time), time = filters.of(filter_kind::time);
    filters_ = filters;
    show_filtered();
    if (time)
        view_->show_range(time->value, time->last);
    else if (before)
        view_->show_all();
}

// Of one process, thread or stream only the tracks that are its own.
void timeline_page::show_filtered() {
    auto const process = filters_.of(filter_kind::process), thread = filters_.of(filter_kind::thread),
               stream = filters_.of(filter_kind::stream);
    if (!trace_ || (!process && !thread && !stream)) return view_->show_only({});
    view_->show_only([scene = trace_->timeline, process, thread, stream](scenes::track const& t) {
        if (process && scene->groups()[t.group].process.value != process->value) return false;
        if (thread && t.thread.value != thread->value) return false;
        return !stream || t.stream == static_cast<store::handle>(stream->value);
    });
}

void timeline_page::choose_event(store::event_id event) {
    view_->select(event.value);
    details_->show_call(trace_, event);
}

QWidget& timeline_page::picture() {
    return *view_;
}

}  // namespace lastref::gui
