#include "gui/views/outstanding_page.h"

#include "gui/models/words.h"
#include "gui/views/editor.h"
#include "gui/views/html.h"
#include "gui/views/payload_view.h"

#include <QTextBrowser>
#include <QUrl>

namespace lastref::gui {
namespace {

std::vector<list_page::grouping> groupings() {
    return {{list_page::tr("where it was made"), static_cast<int>(outstanding_column::site)},
            {list_page::tr("kind of object"), static_cast<int>(outstanding_column::kind)},
            {list_page::tr("kind of holder"), static_cast<int>(outstanding_column::holder)},
            {list_page::tr("finding"), static_cast<int>(outstanding_column::rule)},
            {list_page::tr("thread"), static_cast<int>(outstanding_column::thread)},
            {list_page::tr("process"), static_cast<int>(outstanding_column::process)},
            {list_page::tr("nothing"), std::nullopt}};
}

QString line(QString const& title, QString const& text) {
    return text.isEmpty() ? QString() : QStringLiteral("<tr><td><b>%1</b>&nbsp;</td><td>%2</td></tr>").arg(title, text);
}

}  // namespace

outstanding_page::outstanding_page(QWidget* parent)
    : list_page(tr("Outstanding objects"), tr("nothing outstanding"), groupings(), parent),
      text_(new QTextBrowser(this)),
      story_(new payload_view(this)) {
    text_->setAccessibleName(tr("Details of the object"));
    text_->setOpenLinks(false);
    text_->document()->setDocumentMargin(10);
    connect(text_, &QTextBrowser::anchorClicked, this, [this](QUrl const& url) { follow(url.toString()); });
    connect(story_, &payload_view::event_asked, this, &page::event_asked);
    connect(story_, &payload_view::hovered, this, &page::told);
    add_details(text_);
    add_below(story_, 45);
    story_->hide();
    group_by(0);
}

QString outstanding_page::title() const {
    return tr("Outstanding");
}

QString outstanding_page::details() const {
    return text_->toPlainText();
}

void outstanding_page::follow(QString const& link) {
    if (link.startsWith(QStringLiteral("event:")))
        Q_EMIT event_asked(link.mid(6).toLongLong());
    else if (link.startsWith(QStringLiteral("finding:")))
        Q_EMIT finding_asked(link.mid(8).toULongLong());
    else if (auto const problem = open_source(source_of_link(link)); !problem.isEmpty())
        Q_EMIT told(problem);
}

QString outstanding_page::html(outstanding_row const& row, QString const& stack) const {
    auto out = QStringLiteral("<h3 style=\"margin-bottom:2px\">%1 %2</h3><table>")
                   .arg(kind_text(row.kind), handle_text(row.handle));
    out += line(tr("Payload"), handle_text(row.payload));
    out += line(tr("Bytes"), bytes_text(row.bytes));
    out += line(tr("Made"), tr("at %1 by <a href=\"event:%2\">%3</a>")
                                .arg(time_text(row.created))
                                .arg(row.event.value)
                                .arg(escaped(row.entry_point)));
    out += line(tr("Age"), tr("%1 until the end").arg(duration_text(row.age)));
    if (row.finding)
        out += line(tr("Finding"), QStringLiteral("<a href=\"finding:%1\">%2</a>")
                                       .arg(*row.finding)
                                       .arg(escaped(trace()->findings[*row.finding].title)));
    out += QStringLiteral("</table>");
    if (!row.holders.empty())
        out += QStringLiteral(
                   "<h4 style=\"margin-bottom:2px\">%1</h4><ul "
                   "style=\"margin-top:0px;margin-left:14px;-qt-list-indent:0\">")
                   .arg(tr("Who holds it"));
    for (auto const& holder : row.holders)
        out += QStringLiteral("<li>%1 · <a href=\"event:%2\">%3</a></li>")
                   .arg(escaped(holder.text))
                   .arg(holder.since.value)
                   .arg(tr("since"));
    if (!row.holders.empty()) out += QStringLiteral("</ul>");
    return out + QStringLiteral("<h4 style=\"margin-bottom:2px\">%1</h4>").arg(tr("Made in")) + stack;
}

void outstanding_page::row_chosen(std::optional<std::size_t> row) {
    stacks_.cancel();
    show_story(row && trace() ? &trace()->outstanding[*row] : nullptr);
    if (!row || !trace()) {
        text_->setHtml(
            QStringLiteral("<p>%1</p>").arg(tr("Choose an object to see who holds it and where it was made.")));
        return;
    }
    auto const& chosen = trace()->outstanding[*row];
    text_->setHtml(html(chosen, tr("<p>looking up the stack …</p>")));
    show_stack(chosen);
}

// Only payloads have holders.
void outstanding_page::show_story(outstanding_row const* row) {
    auto const found = row ? trace()->stories->find(row->event) : std::nullopt;
    story_->setVisible(found.has_value());
    if (found) story_->show_story(trace()->stories->story(*found));
}

// Names take a moment where a file of debug information has to be opened first.
void outstanding_page::show_stack(outstanding_row const& row) {
    stacks_.start([this, from = trace(), &row](std::atomic<bool> const&) -> background::continuation {
        std::vector<stack_row> stack;
        try {
            stack = from->stack(row.stack, row.thread);
        } catch (store::error const& e) {
            stack.push_back({{}, {}, {}, 0, false, e.what()});
        }
        return [this, from, &row, stack] { text_->setHtml(html(row, stack_html(stack, palette()))); };
    });
}

}  // namespace lastref::gui
