#include "gui/views/finding_details.h"

#include "gui/models/words.h"
#include "gui/views/html.h"
#include "gui/views/rich_text.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace lastref::gui {

finding_details::finding_details(QWidget* parent)
    : QWidget(parent), text_(new rich_text(tr("Details of the finding"), this)) {
    pass_on(*text_, this);
    auto* const buttons = new QHBoxLayout;
    buttons->setContentsMargins(8, 0, 8, 8);
    for (auto* const button :
         {add_button(tr("Copy suppression"), tr("Lines for a file of suppressions"), &finding_row::suppression),
          add_button(tr("Copy as Markdown"), tr("The finding for an issue or a comment"), &finding_row::markdown),
          add_button(tr("Copy command line"), tr("Commands that show the same in a terminal"),
                     &finding_row::command_line)})
        buttons->addWidget(button);
    buttons->addStretch();

    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text_);
    layout->addLayout(buttons);
    render();
}

QPushButton* finding_details::add_button(QString const& text, QString const& tip, std::string finding_row::*what) {
    auto* const button = new QPushButton(text, this);
    button->setAccessibleName(text);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, [this, what] {
        if (auto const* f = shown()) QGuiApplication::clipboard()->setText(text_of(f->*what));
        Q_EMIT told(tr("Copied"));
    });
    buttons_.push_back(button);
    return button;
}

finding_row const* finding_details::shown() const {
    return trace_ && finding_ && *finding_ < trace_->findings.size() ? &trace_->findings[*finding_] : nullptr;
}

void finding_details::show_finding(trace_pointer const& trace, std::optional<std::size_t> finding) {
    trace_ = trace;
    finding_ = finding;
    render();
}

void finding_details::render() {
    auto const* f = shown();
    text_->setHtml(f ? finding_html(*f, palette())
                     : QStringLiteral("<p>%1</p>").arg(tr("Choose a finding to see what happened and what to do.")));
    for (auto* const button : buttons_) button->setEnabled(f != nullptr);
}

void finding_details::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) render();
}

QString finding_details::text() const {
    return text_->toPlainText();
}

}  // namespace lastref::gui
