#include "gui/views/shutdown_page.h"

#include "gui/models/words.h"
#include "gui/widgets/shutdown_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {

shutdown_page::shutdown_page(QWidget* parent)
    : page(parent), process_(new QComboBox(this)), ended_(new QLabel(this)), view_(new widgets::shutdown_view(this)) {
    process_->setAccessibleName(tr("Process"));
    view_->setAccessibleName(tr("Shutdown"));
    connect(process_, &QComboBox::currentIndexChanged, this, &shutdown_page::show_process);
    connect(view_, &widgets::shutdown_view::hovered, this, &page::told);
    connect(view_, &widgets::shutdown_view::call_chosen, this, [this](qint64 event) {
        if (event != 0) Q_EMIT event_asked(event);
    });
    auto* const label = new QLabel(tr("&Process"), this);
    label->setBuddy(process_);
    auto* const row = new QHBoxLayout;
    row->setContentsMargins(8, 8, 8, 0);
    row->addWidget(label);
    row->addWidget(process_);
    row->addWidget(ended_);
    row->addStretch();
    auto* const scrolled = new QScrollArea(this);
    scrolled->setWidgetResizable(true);
    scrolled->setWidget(view_);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(row);
    layout->addWidget(scrolled, 1);
}

QString shutdown_page::title() const {
    return tr("Shutdown");
}

void shutdown_page::show_trace(trace_pointer const& trace) {
    bool const same = trace_ && trace && trace_->path == trace->path;
    auto const chosen = same ? process_->currentIndex() : 0;
    trace_ = trace;
    process_->blockSignals(true);
    process_->clear();
    if (trace)
        for (auto const& each : trace->shutdown->processes) process_->addItem(text_of(each.name));
    process_->setCurrentIndex(std::min(chosen, process_->count() - 1));
    process_->blockSignals(false);
    show_process();
}

void shutdown_page::show_process() {
    auto const number = static_cast<std::size_t>(std::max(process_->currentIndex(), 0));
    bool const known = trace_ && number < trace_->shutdown->processes.size();
    view_->set_scene(trace_ ? trace_->shutdown : nullptr, number);
    ended_->setText(known ? QString() : tr("No process used the driver."));  // else the view says how it ended
}

void shutdown_page::set_filters(filter_stack const& filters) {
    auto const wanted = filters.of(filter_kind::process);
    if (!wanted || !trace_) return;
    auto const& all = trace_->shutdown->processes;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].process.value == wanted->value) process_->setCurrentIndex(static_cast<int>(i));
}

QWidget& shutdown_page::picture() {
    return *view_;
}

}  // namespace lastref::gui
