#include "gui/views/deferred_page.h"

#include "gui/models/words.h"
#include "gui/views/chart_group.h"
#include "gui/widgets/histogram_view.h"

#include <QLabel>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

QString summary(scenes::histogram const& times) {
    if (times.count == 0) return deferred_page::tr("No clean-up followed a callback in this trace.");
    auto out = deferred_page::tr("%1 clean-ups followed a callback: half of them within %2, the longest after %3.")
                   .arg(count_text(times.count), duration_text(times.median), duration_text(times.longest));
    if (times.inferred)
        out += QLatin1Char(' ') + deferred_page::tr("Which memory belongs to which payload is inferred for some.");
    return out;
}

}  // namespace

deferred_page::deferred_page(QWidget* parent)
    : page(parent), text_(new QLabel(this)), charts_(new chart_group(this)), times_(new widgets::histogram_view(this)) {
    text_->setWordWrap(true);
    text_->setContentsMargins(8, 8, 8, 0);
    charts_->add_chart(tr("Payloads that wait for their clean-up"));
    charts_->add_chart(tr("Bytes that wait for their clean-up"));
    times_->setAccessibleName(tr("Time from callback to clean-up"));
    times_->setMinimumHeight(120);
    charts_->add(tr("Time from callback to clean-up"), times_);
    connect(charts_, &chart_group::hovered, this, &page::told);
    connect(times_, &widgets::histogram_view::hovered, this, &page::told);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text_);
    layout->addWidget(charts_, 1);
}

QString deferred_page::title() const {
    return tr("Deferred clean-up");
}

void deferred_page::show_trace(trace_pointer const& trace) {
    if (!trace) return;
    charts_->charts()[0]->set_scene(trace->curves, trace->curves->backlog);
    charts_->charts()[1]->set_scene(trace->curves, trace->curves->backlog_bytes);
    times_->set_scene(trace->curves, trace->curves->clean_up);
    text_->setText(summary(trace->curves->clean_up));
}

void deferred_page::set_filters(filter_stack const& filters) {
    if (auto const time = filters.of(filter_kind::time)) charts_->charts()[0]->show_range(time->value, time->last);
}

QWidget& deferred_page::picture() {
    return *charts_;
}

}  // namespace lastref::gui
