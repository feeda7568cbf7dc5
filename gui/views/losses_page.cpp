#include "gui/views/losses_page.h"

#include "gui/models/words.h"
#include "gui/views/table_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStringList>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

QString reasons_text(loaded_trace const& trace) {
    if (trace.incomplete.empty()) return losses_page::tr("The trace is complete: nothing that was called is missing.");
    QStringList out{losses_page::tr("The trace is incomplete. What is not in it cannot be found:")};
    for (auto const& reason : trace.incomplete) out << QStringLiteral("• ") + text_of(reason);
    return out.join(QLatin1Char('\n'));
}

QString ledger_text(loaded_trace const& trace) {
    return losses_page::tr("Ledger of references: %1 of %2 destructors ran as predicted.")
        .arg(count_text(trace.ledger.agreed), count_text(trace.ledger.predicted));
}

}  // namespace

losses_page::losses_page(QWidget* parent)
    : page(parent),
      reasons_(new QLabel(this)),
      ledger_(new QLabel(this)),
      loss_view_(new table_view(tr("Losses"), this)),
      suppression_view_(new table_view(tr("Suppressions"), this)) {
    for (auto [view, model] : {std::pair{loss_view_, &losses_}, std::pair{suppression_view_, &suppressions_}}) {
        view->setModel(model);
        view->setRootIsDecorated(false);
        view->setSortingEnabled(true);
        view->sortByColumn(-1, Qt::DescendingOrder);
    }
    loss_view_->sortByColumn(0, Qt::DescendingOrder);  // what was lost before what could have been
    suppression_view_->set_nothing(tr("No suppressions are in use."));
    for (auto* const label : {reasons_, ledger_}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    auto* const choose = new QPushButton(tr("&Use a file of suppressions…"), this);
    choose->setAccessibleName(tr("Use a file of suppressions"));
    connect(choose, &QPushButton::clicked, this, &losses_page::suppressions_asked);
    auto* const row = new QHBoxLayout;
    row->addWidget(new QLabel(tr("Suppressions, and how many findings each covers"), this));
    row->addStretch();
    row->addWidget(choose);

    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 12, 12, 12);
    layout->addWidget(reasons_);
    layout->addWidget(ledger_);
    layout->addWidget(loss_view_, 3);
    layout->addLayout(row);
    layout->addWidget(suppression_view_, 2);
}

QString losses_page::title() const {
    return tr("Losses and suppressions");
}

void losses_page::show_trace(trace_pointer const& trace) {
    reasons_->setText(trace ? reasons_text(*trace) : QString());
    ledger_->setText(trace ? ledger_text(*trace) : QString());
    losses_.show(trace ? loss_table(trace) : nullptr);
    suppressions_.show(trace ? suppression_table(trace) : nullptr);
    loss_view_->fit_columns();
    suppression_view_->fit_columns();
}

void losses_page::set_search(QString const& text) {
    losses_.set_search(text);
    suppressions_.set_search(text);
}

}  // namespace lastref::gui
