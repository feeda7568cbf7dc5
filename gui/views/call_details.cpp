#include "gui/views/call_details.h"

#include "gui/views/editor.h"
#include "gui/views/html.h"

#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace lastref::gui {

call_details::call_details(QWidget* parent) : QWidget(parent), text_(new QTextBrowser(this)) {
    text_->setAccessibleName(tr("Details of the call"));
    text_->setOpenLinks(false);
    text_->document()->setDocumentMargin(10);
    connect(text_, &QTextBrowser::anchorClicked, this, [this](QUrl const& url) {
        auto const problem = open_source(source_of_link(url.toString()));
        if (!problem.isEmpty()) Q_EMIT told(problem);
    });
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text_);
    show_call(nullptr, {});
}

void call_details::show_call(trace_pointer const& trace, store::event_id event) {
    work_.cancel();
    if (!trace || !event) {
        text_->setHtml(QStringLiteral("<p>%1</p>").arg(tr("Choose a call to see its stack.")));
        return;
    }
    work_.start([this, trace, event](std::atomic<bool> const&) -> background::continuation {
        try {
            auto const call = trace->call(event);
            return [this, call] { text_->setHtml(call ? call_html(*call, palette()) : QString()); };
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { text_->setPlainText(problem); };
        }
    });
}

QString call_details::text() const {
    return text_->toPlainText();
}

}  // namespace lastref::gui
