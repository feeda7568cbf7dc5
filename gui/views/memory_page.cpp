#include "gui/views/memory_page.h"

#include "gui/models/words.h"
#include "gui/views/chart_group.h"
#include "gui/views/flame_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace lastref::gui {

memory_page::memory_page(QWidget* parent)
    : page(parent), charts_(new chart_group(this)), pool_(new QComboBox(this)), flame_(new flame_panel(this)) {
    charts_->add_chart(tr("Memory over time"));
    charts_->add_chart(tr("The pool over time"));
    connect(charts_, &chart_group::hovered, this, &page::told);
    charts_->add(tr("Allocations by call stack"), flame_);
    for (auto* const each : charts_->charts())
        connect(each, &widgets::chart_view::time_chosen, flame_, &flame_panel::show_moment);
    connect(flame_, &flame_panel::hovered, this, &page::told);
    pool_->setAccessibleName(tr("Pool"));
    connect(pool_, &QComboBox::currentIndexChanged, this, &memory_page::show_pool);
    auto* const label = new QLabel(tr("&Pool"), this);
    label->setBuddy(pool_);
    auto* const row = new QHBoxLayout;
    row->setContentsMargins(8, 8, 8, 0);
    row->addWidget(label);
    row->addWidget(pool_);
    row->addStretch();
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(row);
    layout->addWidget(charts_, 1);
}

QString memory_page::title() const {
    return tr("Memory");
}

std::vector<scenes::chart const*> memory_page::pools() const {
    std::vector<scenes::chart const*> out;
    if (!trace_) return out;
    for (auto const& each : trace_->curves->pools) out.push_back(&each);
    for (auto const& each : trace_->curves->graph_memory) out.push_back(&each);
    return out;
}

void memory_page::show_trace(trace_pointer const& trace) {
    trace_ = trace;
    if (trace) charts_->charts()[0]->set_scene(trace->curves, trace->curves->memory);
    auto const chosen = pool_->currentText();
    pool_->blockSignals(true);
    pool_->clear();
    for (auto const* each : pools()) pool_->addItem(text_of(each->title));
    pool_->setEnabled(pool_->count() > 0);
    if (pool_->count() == 0) pool_->addItem(tr("none was used"));
    pool_->setCurrentIndex(std::max(pool_->findText(chosen), 0));
    pool_->blockSignals(false);
    show_pool();
    flame_->show_trace(trace);
}

void memory_page::set_search(QString const& text) {
    flame_->search(text);
}

void memory_page::show_pool() {
    auto const all = pools();
    auto const number = static_cast<std::size_t>(std::max(pool_->currentIndex(), 0));
    auto* const view = charts_->charts()[1];
    view->parentWidget()->setVisible(number < all.size());
    if (number < all.size()) view->set_scene(trace_->curves, *all[number]);
}

void memory_page::set_filters(filter_stack const& filters) {
    if (auto const time = filters.of(filter_kind::time)) charts_->charts()[0]->show_range(time->value, time->last);
}

QAbstractItemModel const* memory_page::exported() const {
    return &flame_->tree();
}

QWidget& memory_page::picture() {
    return *charts_;
}

}  // namespace lastref::gui
