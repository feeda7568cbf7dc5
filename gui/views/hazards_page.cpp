#include "gui/views/hazards_page.h"

#include "gui/loader/hazards.h"
#include "gui/widgets/hazard_view.h"

#include <QLabel>
#include <QStackedWidget>

#include <algorithm>

namespace lastref::gui {
namespace {

std::vector<list_page::grouping> groupings() {
    return {{list_page::tr("nothing"), std::nullopt},
            {list_page::tr("rule"), static_cast<int>(finding_column::rule)},
            {list_page::tr("where"), static_cast<int>(finding_column::place)}};
}

}  // namespace

hazards_page::hazards_page(QWidget* parent)
    : list_page(tr("Ordering hazards"), tr("none"), groupings(), parent),
      below_(new QStackedWidget(this)),
      lanes_(new widgets::hazard_view(this)),
      words_(new QLabel(this)) {
    words_->setAlignment(Qt::AlignCenter);
    words_->setWordWrap(true);
    below_->addWidget(lanes_);
    below_->addWidget(words_);
    add_below(below_, 70);
    connect(lanes_, &widgets::hazard_view::call_chosen, this, &page::event_asked);
}

QString hazards_page::title() const {
    return tr("Ordering hazards");
}

QWidget& hazards_page::picture() {
    return *lanes_;
}

table_pointer hazards_page::make_table(trace_pointer const& trace) const {
    return finding_table(trace, findings_about_order(*trace));
}

void hazards_page::show_trace(trace_pointer const& trace) {
    listed_ = trace ? findings_about_order(*trace) : std::vector<std::size_t>{};
    list_page::show_trace(trace);
    if (!listed_.empty() && !chosen()) choose_row(0);
}

void hazards_page::choose_finding(std::size_t finding) {
    auto const place = std::find(listed_.begin(), listed_.end(), finding);
    if (place != listed_.end()) choose_row(static_cast<std::size_t>(place - listed_.begin()));
}

void hazards_page::say(QString const& text) {
    words_->setText(text);
    below_->setCurrentWidget(words_);
}

void hazards_page::row_chosen(std::optional<std::size_t> row) {
    work_.cancel();
    if (row && *row < listed_.size())
        draw(listed_[*row]);
    else
        say(listed_.empty() ? tr("Nothing was found that is freed or used without order.")
                            : tr("Choose a finding to see its threads and streams."));
}

void hazards_page::draw(std::size_t finding) {
    work_.start([this, from = trace(), finding](std::atomic<bool> const& stopped) -> background::continuation {
        try {
            auto const scene = lanes_of(*from, finding, [&stopped](double) { return !stopped; });
            if (!scene) return [this] { say(tr("The calls of this finding are not in the trace.")); };
            return [this, scene] {
                lanes_->set_scene(scene);
                below_->setCurrentWidget(lanes_);
            };
        } catch (scenes::cancelled const&) {
            return {};
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { say(problem); };
        }
    });
}

}  // namespace lastref::gui
