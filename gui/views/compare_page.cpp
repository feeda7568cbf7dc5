#include "gui/views/compare_page.h"

#include "gui/models/tables.h"
#include "gui/models/words.h"
#include "gui/views/table_view.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace lastref::gui {

compare_page::compare_page(QWidget* parent)
    : page(parent),
      view_(new table_view(tr("Differences"), this)),
      text_(new QLabel(this)),
      group_box_(new QComboBox(this)),
      progress_(new QProgressBar(this)),
      cancel_(new QPushButton(tr("Ca&ncel"), this)) {
    groups_.set_source(&filtered_);
    groups_.group_by(1);
    view_->setModel(&groups_);
    view_->setSortingEnabled(true);
    view_->sortByColumn(-1, Qt::DescendingOrder);
    connect(&groups_, &QAbstractItemModel::modelReset, view_, &QTreeView::expandAll);
    view_->set_nothing(tr("Choose an earlier trace of the same program."));
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    for (auto const& [name, column] : {std::pair{tr("change"), 1}, {tr("rule"), 2}, {tr("where"), 3}})
        group_box_->addItem(name, column);
    group_box_->setAccessibleName(tr("Group by"));
    connect(group_box_, &QComboBox::currentIndexChanged, this,
            [this] { groups_.group_by(group_box_->currentData().toInt()); });
    auto* const choose_button = new QPushButton(tr("&Compare with…"), this);
    choose_button->setAccessibleName(tr("Choose an earlier trace to compare with"));
    connect(choose_button, &QPushButton::clicked, this, &compare_page::choose);
    connect(&loader_, &trace_loader::loaded, this, &compare_page::take);
    connect(&loader_, &trace_loader::failed, this, [this](QString const& problem) {
        show_idle();
        text_->setText(problem);
    });
    connect(&loader_, &trace_loader::cancelled, this, [this] {
        show_idle();
        refresh();
    });
    connect(&loader_, &trace_loader::progressed, this, [this](load_stage, double share) { show_progress(share); });
    connect(cancel_, &QPushButton::clicked, &loader_, &trace_loader::cancel);
    progress_->setAccessibleName(tr("Progress"));
    progress_->setMaximumWidth(160);
    show_idle();

    auto* const label = new QLabel(tr("&Group by"), this);
    label->setBuddy(group_box_);
    auto* const row = new QHBoxLayout;
    row->addWidget(choose_button);
    row->addWidget(text_, 1);
    row->addWidget(progress_);
    row->addWidget(cancel_);
    row->addWidget(label);
    row->addWidget(group_box_);
    row->setContentsMargins(8, 8, 8, 0);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(row);
    layout->addWidget(view_);
    refresh();
}

QString compare_page::title() const {
    return tr("Compare");
}

void compare_page::choose() {
    auto const path =
        QFileDialog::getOpenFileName(this, tr("An earlier trace"), {}, tr("Traces (*.lastref);;All files (*)"));
    if (!path.isEmpty()) compare_with(path);
}

void compare_page::compare_with(QString const& earlier) {
    text_->setText(tr("reading %1 …").arg(QFileInfo(earlier).fileName()));
    loader_.start({earlier.toStdString(), {}});
}

void compare_page::show_progress(double share) {
    progress_->setRange(0, 1000);
    progress_->setValue(static_cast<int>(share * 1000));
    progress_->show();
    cancel_->show();
}

void compare_page::show_idle() {
    progress_->hide();
    cancel_->hide();
}

QString compare_page::summary() const {
    return text_->text();
}

void compare_page::take(trace_pointer const& earlier) {
    show_idle();
    earlier_ = earlier;
    refresh();
    view_->fit_columns();
}

void compare_page::show_trace(trace_pointer const& trace) {
    trace_ = trace;
    refresh();
}

void compare_page::set_search(QString const& text) {
    filtered_.set_search(text);
}

void compare_page::refresh() {
    if (!trace_ || !earlier_) {
        text_->setText(tr("What is new here, what is gone, and what grew."));
        filtered_.show(nullptr);
        return;
    }
    view_->set_nothing(tr("Both traces show the same."));
    auto const d = gate::compare(earlier_->as_baseline, trace_->as_baseline);
    text_->setText(summary(d));
    filtered_.show(difference_table(d));
}

QString compare_page::summary(gate::difference const& d) const {
    auto const name = QFileInfo(text_of(earlier_->path)).fileName();
    auto out = tr("Since %1: %2 new, %3 gone, %4 changed, %5 the same.")
                   .arg(name)
                   .arg(d.came.size())
                   .arg(d.went.size())
                   .arg(d.changed.size())
                   .arg(d.unchanged.size());
    if (!d.complete()) out += QLatin1Char(' ') + tr("One of the traces is incomplete.");
    return out;
}

}  // namespace lastref::gui
