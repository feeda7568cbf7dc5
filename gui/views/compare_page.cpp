#include "gui/views/compare_page.h"

#include "gui/models/tables.h"
#include "gui/models/words.h"
#include "gui/views/table_view.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace lastref::gui {

compare_page::compare_page(QWidget* parent)
    : page(parent),
      view_(new table_view(tr("Differences"), this)),
      text_(new QLabel(this)),
      group_box_(new QComboBox(this)) {
    groups_.set_source(&filtered_);
    groups_.group_by(1);
    view_->setModel(&groups_);
    view_->setSortingEnabled(true);
    view_->sortByColumn(-1, Qt::DescendingOrder);
    connect(&groups_, &QAbstractItemModel::modelReset, view_, &QTreeView::expandAll);
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
    connect(&loader_, &trace_loader::failed, text_, &QLabel::setText);

    auto* const label = new QLabel(tr("&Group by"), this);
    label->setBuddy(group_box_);
    auto* const row = new QHBoxLayout;
    row->addWidget(choose_button);
    row->addWidget(text_, 1);
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
    text_->setText(tr("reading %1 …").arg(earlier));
    loader_.start({earlier.toStdString(), {}});
}

void compare_page::take(trace_pointer const& earlier) {
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
        text_->setText(
            tr("Choose an earlier trace of the same program: what is new here, what is gone, and what grew."));
        filtered_.show(nullptr);
        return;
    }
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
