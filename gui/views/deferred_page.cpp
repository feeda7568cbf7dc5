#include "gui/views/deferred_page.h"

#include "gui/models/tables.h"
#include "gui/models/words.h"
#include "gui/views/chart_group.h"
#include "gui/views/table_view.h"
#include "gui/widgets/histogram_view.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

QString marks_text(scenes::queue_marks const& m) {
    auto out = m.callbacks == 1 ? deferred_page::tr("One payload's destructor ran.")
                                : deferred_page::tr("%1 payloads' destructors ran.").arg(count_text(m.callbacks));
    if (!m.any()) return out;
    out +=
        QLatin1Char(' ') + deferred_page::tr(
                               "The program's queues say: %1 put in, %2 wake-ups asked for, %3 of them refused and %4 "
                               "declined, %5 drains, %6 cleaned up.")
                               .arg(count_text(m.enqueued), count_text(m.asked), count_text(m.refused),
                                    count_text(m.declined), count_text(m.drains), count_text(m.cleaned));
    return out;
}

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
    : page(parent),
      text_(new QLabel(this)),
      charts_(new chart_group(this)),
      times_(new widgets::histogram_view(this)),
      replay_view_(new table_view(tr("The program's clean-ups beside the reference queue's"), this)) {
    text_->setWordWrap(true);
    text_->setContentsMargins(8, 8, 8, 0);
    charts_->add_chart(tr("Payloads that wait for their clean-up"));
    charts_->add_chart(tr("Bytes that wait for their clean-up"));
    times_->setAccessibleName(tr("Time from callback to clean-up"));
    times_->setMinimumHeight(120);
    replay_view_->setModel(&replay_);
    replay_view_->setRootIsDecorated(false);
    replay_view_->setToolTip(
        tr("What lastref's own queue would have made of the same callbacks, polled whenever a call of the main thread "
           "has returned"));
    auto* const beside = new QSplitter(Qt::Horizontal, this);
    beside->addWidget(times_);
    beside->addWidget(replay_view_);
    beside->setChildrenCollapsible(false);
    beside->setSizes({5000, 5000});
    charts_->add(tr("Time from callback to clean-up, and the reference queue with the same callbacks"), beside);
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
    trace_ = trace;
    replay_.show(nullptr);
    ask();
    if (!trace) return;
    charts_->charts()[0]->set_scene(trace->curves, trace->curves->backlog);
    charts_->charts()[1]->set_scene(trace->curves, trace->curves->backlog_bytes);
    times_->set_scene(trace->curves, trace->curves->clean_up);
    text_->setText(marks_text(trace->curves->marks) + QLatin1Char(' ') + summary(trace->curves->clean_up));
}

// The trace is read once more for it: not before somebody looks.
void deferred_page::ask() {
    work_.cancel();
    stale_ = true;
    if (!trace_ || !isVisible()) return;
    stale_ = false;
    replay_view_->set_nothing(tr("reading …"));
    work_.start([this, from = trace_](std::atomic<bool> const& stopped) -> background::continuation {
        try {
            auto rows = replay_rows(*from, [&stopped](double) { return !stopped; });
            return [this, rows = std::move(rows)] {
                replay_view_->set_nothing(tr("No payload's destructor ran."));
                replay_.show(replay_table(rows));
                replay_view_->fit_columns();
            };
        } catch (scenes::cancelled const&) {
            return {};
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { replay_view_->set_nothing(problem); };
        }
    });
}

void deferred_page::showEvent(QShowEvent* event) {
    page::showEvent(event);
    if (stale_) ask();
}

QString deferred_page::text() const {
    return text_->text();
}

void deferred_page::set_filters(filter_stack const& filters) {
    if (auto const time = filters.of(filter_kind::time)) charts_->charts()[0]->show_range(time->value, time->last);
}

QWidget& deferred_page::picture() {
    return *charts_;
}

}  // namespace lastref::gui
