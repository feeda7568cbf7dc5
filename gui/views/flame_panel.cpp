#include "gui/views/flame_panel.h"

#include "gui/models/words.h"
#include "gui/views/table_view.h"
#include "gui/widgets/flame_graph.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

int number(auto value) {
    return static_cast<int>(value);
}

}  // namespace

flame_panel::flame_panel(QWidget* parent)
    : QWidget(parent),
      words_(new QLabel(this)),
      shown_(new QStackedWidget(this)),
      graph_(new widgets::flame_graph(this)),
      tree_view_(new table_view(tr("Allocations by call stack, as a tree"), this)) {
    using enum scenes::flame_moment;
    moment_ = add_choice(tr("Moment"), {{tr("live at the peak"), number(peak)},
                                        {tr("live at the end"), number(end)},
                                        {tr("live at the chosen time"), number(at)},
                                        {tr("ever allocated"), number(ever)}});
    order_ = add_choice(tr("Order"), {{tr("callers first"), number(scenes::flame_order::callers_first)},
                                      {tr("callees first"), number(scenes::flame_order::callees_first)}});
    side_ = add_choice(tr("Memory"), {{tr("device"), number(scenes::flame_side::device)},
                                      {tr("host"), number(scenes::flame_side::host)},
                                      {tr("both"), number(scenes::flame_side::both)}});
    form_ = new QComboBox(this);
    form_->setAccessibleName(tr("Form"));
    form_->addItems({tr("flame graph"), tr("tree")});
    connect(form_, &QComboBox::currentIndexChanged, shown_, &QStackedWidget::setCurrentIndex);
    tree_view_->setModel(&tree_);
    tree_view_->setMinimumHeight(90);
    shown_->addWidget(graph_);
    shown_->addWidget(tree_view_);
    graph_->setAccessibleName(tr("Allocations by call stack"));
    graph_->setMinimumHeight(90);
    connect(graph_, &widgets::flame_graph::hovered, this, &flame_panel::hovered);
    auto* const row = new QHBoxLayout;
    row->setContentsMargins(8, 0, 8, 0);
    for (auto* const box : {form_, moment_, order_, side_}) row->addWidget(box);
    words_->setWordWrap(true);
    row->addWidget(words_, 1);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(row);
    layout->addWidget(shown_, 1);
}

QComboBox* flame_panel::add_choice(QString const& name, std::initializer_list<std::pair<QString, int>> choices) {
    auto* const out = new QComboBox(this);
    out->setAccessibleName(name);
    for (auto const& [text, value] : choices) out->addItem(text, value);
    connect(out, &QComboBox::currentIndexChanged, this, &flame_panel::ask);
    return out;
}

scenes::flame_question flame_panel::question() const {
    scenes::flame_question out;
    out.moment = static_cast<scenes::flame_moment>(moment_->currentData().toInt());
    out.order = static_cast<scenes::flame_order>(order_->currentData().toInt());
    out.side = static_cast<scenes::flame_side>(side_->currentData().toInt());
    out.at = at_;
    return out;
}

void flame_panel::show_trace(trace_pointer const& trace) {
    if (!trace_ || !trace || trace_->path != trace->path) at_ = 0;
    trace_ = trace;
    ask();
}

void flame_panel::show_moment(qint64 at) {
    at_ = at;
    auto const live = moment_->findData(number(scenes::flame_moment::at));
    if (moment_->currentIndex() == live)
        ask();
    else
        moment_->setCurrentIndex(live);
}

// Names of many stacks may be needed: not before somebody looks.
void flame_panel::ask() {
    work_.cancel();
    stale_ = true;
    if (!trace_ || !isVisible()) return;
    stale_ = false;
    words_->setText(tr("looking up …"));
    work_.start(
        [this, from = trace_, asked = question()](std::atomic<bool> const& stopped) -> background::continuation {
            try {
                auto const made = from->flame(asked, [&stopped](double) { return !stopped; });
                return [this, made] { show_flame(made); };
            } catch (scenes::cancelled const&) {
                return {};
            } catch (store::error const& e) {
                return [this, problem = QString::fromUtf8(e.what())] { words_->setText(problem); };
            }
        });
}

void flame_panel::show_flame(std::shared_ptr<scenes::flame const> const& flame) {
    graph_->set_scene(flame);
    tree_.show(flame);
    tree_view_->expandToDepth(6);  // past what starts every program
    tree_view_->fit_columns();
    if (!search_.isEmpty()) graph_->search(search_);
    auto const& all = flame->nodes.front();
    auto const bytes = all.bytes == 0 ? tr("nothing") : bytes_text(all.bytes);
    bool const of_a_moment = flame->asked.moment != scenes::flame_moment::ever;
    auto const what = all.count == 1 ? tr("%1 in one allocation").arg(bytes)
                                     : tr("%1 in %2 allocations").arg(bytes, count_text(all.count));
    words_->setText(of_a_moment ? tr("%1 at %2").arg(what, time_text(flame->at)) : what);
}

void flame_panel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) ask();
}

void flame_panel::search(QString const& text) {
    search_ = text;
    graph_->search(text);
}

void flame_panel::show_tree(bool on) {
    form_->setCurrentIndex(on ? 1 : 0);
}

QString flame_panel::text() const {
    return words_->text();
}

}  // namespace lastref::gui
