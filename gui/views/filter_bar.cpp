#include "gui/views/filter_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace lastref::gui {

filter_bar::filter_bar(QWidget* parent) : QWidget(parent), chips_(new QHBoxLayout(this)) {
    chips_->setContentsMargins(8, 4, 8, 4);
    hide();
}

void filter_bar::add_chip(filter const& f) {
    auto* const chip = new QToolButton(this);
    chip->setText(f.label + QStringLiteral("  ✕"));
    chip->setAccessibleName(tr("Remove the filter %1").arg(f.label));
    chip->setToolTip(tr("Remove this filter"));
    connect(chip, &QToolButton::clicked, this, [this, kind = f.kind] { Q_EMIT removed(kind); });
    chips_->addWidget(chip);
}

void filter_bar::show_filters(filter_stack const& filters) {
    while (auto* const item = chips_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();  // it may be the chip that was just clicked
        delete item;
    }
    setVisible(!filters.empty());
    if (filters.empty()) return;
    chips_->addWidget(new QLabel(tr("Shown are only:"), this));
    for (auto const& f : filters.all()) add_chip(f);
    auto* const all = new QToolButton(this);
    all->setText(tr("Show everything"));
    all->setAccessibleName(tr("Remove all filters"));
    all->setAutoRaise(true);
    connect(all, &QToolButton::clicked, this, &filter_bar::cleared);
    chips_->addStretch();
    chips_->addWidget(all);
}

}  // namespace lastref::gui
