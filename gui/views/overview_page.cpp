#include "gui/views/overview_page.h"

#include "gui/models/roles.h"
#include "gui/views/chart_group.h"
#include "gui/views/colours.h"
#include "gui/views/overview_delegate.h"
#include "gui/views/table_view.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {
namespace {

QLabel* heading(QString const& text, QWidget* parent) {
    auto* const out = new QLabel(text, parent);
    auto font = out->font();
    font.setBold(true);
    out->setFont(font);
    return out;
}

QLabel* centred(QString const& text, int larger, QWidget* parent) {
    auto* const out = new QLabel(text, parent);
    auto font = out->font();
    font.setPointSize(font.pointSize() + larger);
    font.setBold(larger > 0);
    out->setFont(font);
    out->setAlignment(Qt::AlignCenter);
    out->setAttribute(Qt::WA_TransparentForMouseEvents);  // the tile is what is clicked
    return out;
}

// A number over what it counts, to be clicked.
QPushButton* tile(overview_fact const& fact, QWidget* parent) {
    auto* const out = new QPushButton(parent);
    out->setAccessibleName(fact.number + QLatin1Char(' ') + fact.text);
    auto* const layout = new QVBoxLayout(out);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->setSpacing(2);
    layout->addWidget(centred(fact.number, 6, out));
    layout->addWidget(centred(fact.text, 0, out));
    out->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return out;
}

}  // namespace

overview_page::overview_page(QWidget* parent)
    : page(parent),
      headline_(new QLabel(this)),
      below_(new QLabel(this)),
      facts_(new QGridLayout),
      lines_(new QListWidget(this)),
      process_heading_(heading(tr("Processes"), this)),
      charts_(new chart_group(this, Qt::Horizontal)),
      process_view_(new table_view(tr("Processes"), this)) {
    auto font = headline_->font();
    font.setPointSize(font.pointSize() + 8);
    font.setBold(true);
    headline_->setFont(font);
    headline_->setWordWrap(true);
    below_->setWordWrap(true);
    below_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    lines_->setAccessibleName(tr("What is wrong"));
    lines_->setItemDelegate(new overview_delegate(lines_));
    lines_->setUniformItemSizes(true);
    connect(lines_, &QListWidget::itemActivated, this, &overview_page::follow);
    connect(lines_, &QListWidget::itemClicked, this, &overview_page::follow);
    process_view_->setRootIsDecorated(false);
    process_view_->setMinimumHeight(50);
    lines_->setMinimumHeight(80);
    charts_->add_chart(tr("Outstanding payloads over time"));
    charts_->add_chart(tr("Memory over time"));
    connect(charts_, &chart_group::hovered, this, &page::told);

    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(headline_);
    layout->addWidget(below_);
    layout->addLayout(facts_);
    layout->addWidget(heading(tr("Worst first"), this));
    layout->addWidget(lines_, 4);
    layout->addWidget(charts_, 3);
    layout->addWidget(process_heading_);
    layout->addWidget(process_view_, 1);
}

QString overview_page::title() const {
    return tr("Overview");
}

QString overview_page::headline() const {
    return headline_->text();
}

void overview_page::show_trace(trace_pointer const& trace) {
    shown_ = trace ? overview_of(*trace) : overview{};
    headline_->setText(shown_.headline);
    below_->setText(shown_.below);
    if (trace) {
        charts_->charts()[0]->set_scene(trace->curves, trace->curves->payloads);
        charts_->charts()[1]->set_scene(trace->curves, trace->curves->memory);
    }
    paint_headline();
    show_facts();
    show_lines();
    auto table = trace ? process_table(trace) : nullptr;
    process_view_->setModel(table.get());
    processes_ = std::move(table);
    process_view_->fit_columns();
}

void overview_page::paint_headline() {
    auto colours = palette();
    colours.setColor(QPalette::WindowText,
                     shown_.clean ? good_colour(colours) : severity_colour(shown_.worst, colours));
    headline_->setPalette(colours);
}

void overview_page::show_facts() {
    for (auto* const old : tiles_) delete old;
    tiles_.clear();
    for (auto const& fact : shown_.facts) {
        auto* const button = tile(fact, this);
        connect(button, &QPushButton::clicked, this, [this, to = fact.page] { Q_EMIT page_asked(to); });
        tiles_.push_back(button);
    }
    arrange_facts();
}

// In one row where there is room for the words, else in two.
void overview_page::arrange_facts() {
    int widest = 0;
    for (auto const* const tile : tiles_) widest = std::max(widest, tile->layout()->sizeHint().width());
    int const columns = 6 * (widest + facts_->horizontalSpacing()) <= width() - 32 ? 6 : 3;
    for (int i = 0; i < static_cast<int>(tiles_.size()); ++i) {
        auto* const button = tiles_[static_cast<std::size_t>(i)];
        button->setFixedHeight(button->layout()->sizeHint().height());
        facts_->addWidget(button, i / columns, i % columns);
    }
}

void overview_page::resizeEvent(QResizeEvent* event) {
    page::resizeEvent(event);
    arrange_facts();
    bool const tall = height() >= 560;
    process_heading_->setVisible(tall);
    process_view_->setVisible(tall);
}

void overview_page::show_lines() {
    lines_->clear();
    for (auto const& line : shown_.lines) {
        auto* const item = new QListWidgetItem(line.text, lines_);
        item->setData(detail_role, line.detail);
        item->setToolTip(line.text + QLatin1Char('\n') + line.detail);
        if (line.severity) item->setData(severity_role, static_cast<int>(*line.severity));
    }
}

void overview_page::follow(QListWidgetItem* item) {
    auto const& line = shown_.lines[static_cast<std::size_t>(lines_->row(item))];
    if (line.finding)
        Q_EMIT finding_asked(*line.finding);
    else
        Q_EMIT page_asked(line.page);
}

void overview_page::changeEvent(QEvent* event) {
    page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && headline_) paint_headline();
}

}  // namespace lastref::gui
