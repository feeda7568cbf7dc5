#include "gui/views/call_details.h"

#include "gui/views/html.h"
#include "gui/views/rich_text.h"

#include <QEvent>
#include <QVBoxLayout>

namespace lastref::gui {

call_details::call_details(QWidget* parent) : QWidget(parent), text_(new rich_text(tr("Details of the call"), this)) {
    pass_on(*text_, this);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text_);
    show_call(nullptr, {});
}

void call_details::show_call(trace_pointer const& trace, store::event_id event) {
    work_.cancel();
    shown_.reset();
    if (!trace || !event) {
        text_->setHtml(QStringLiteral("<p>%1</p>").arg(tr("Choose a call to see its stack.")));
        return;
    }
    work_.start([this, trace, event](std::atomic<bool> const&) -> background::continuation {
        try {
            auto const call = trace->call(event);
            return [this, call] {
                shown_ = call;
                text_->setHtml(call ? call_html(*call, palette()) : QString());
            };
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { text_->setPlainText(problem); };
        }
    });
}

void call_details::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && shown_) text_->setHtml(call_html(*shown_, palette()));
}

QString call_details::text() const {
    return text_->toPlainText();
}

}  // namespace lastref::gui
