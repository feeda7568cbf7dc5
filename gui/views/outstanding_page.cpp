#include "gui/views/outstanding_page.h"

#include "gui/models/words.h"
#include "gui/views/html.h"
#include "gui/views/payload_view.h"
#include "gui/views/rich_text.h"

#include <QEvent>

#include <algorithm>

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

constexpr std::size_t most_stacks = 5;  // of holders

// The calls by which holders came to their references.
QString held_html(std::vector<call_details_row> const& held, QPalette const& palette) {
    QString out;
    for (auto const& call : held)
        out += QStringLiteral("<h4 style=\"margin-bottom:2px\">%1 %2 %3</h4>")
                   .arg(outstanding_page::tr("Held since"), event_link(call.event, call.entry_point),
                        escaped(call.where)) +
               stack_html(call.stack, palette);
    return out;
}

QString line(QString const& title, QString const& text) {
    return text.isEmpty() ? QString() : QStringLiteral("<tr><td><b>%1</b>&nbsp;</td><td>%2</td></tr>").arg(title, text);
}

}  // namespace

outstanding_page::outstanding_page(QWidget* parent)
    : list_page(tr("Outstanding objects"), tr("nothing outstanding"), groupings(), parent),
      text_(new rich_text(tr("Details of the object"), this)),
      story_(new payload_view(this)) {
    pass_on(*text_, static_cast<page*>(this));
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

void outstanding_page::choose_finding(std::size_t finding) {
    if (!trace()) return;
    auto const& rows = trace()->outstanding;
    auto const told = std::find_if(rows.begin(), rows.end(), [finding](auto const& o) { return o.finding == finding; });
    if (told != rows.end()) choose_row(static_cast<std::size_t>(told - rows.begin()));
}

QString outstanding_page::details() const {
    return text_->toPlainText();
}

void outstanding_page::changeEvent(QEvent* event) {
    list_page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && story_ && trace()) row_chosen(chosen());
}

QString outstanding_page::html(outstanding_row const& row, QString const& stack) const {
    auto out = QStringLiteral("<h3 style=\"margin-bottom:2px\">%1 %2</h3><table>")
                   .arg(kind_text(row.kind), object_link(row.process, row.handle));
    out += line(tr("Payload"), object_link(row.process, row.payload));
    out += line(tr("Bytes"), bytes_text(row.bytes));
    out += line(tr("Made"), tr("at %1 by %2").arg(time_text(row.created), event_link(row.event, row.entry_point)));
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
        out += QStringLiteral("<li>%1 · %2</li>")
                   .arg(escaped(holder.text), holder.handle != 0 ? object_link(row.process, holder.handle)
                                                                 : event_link(holder.since, tr("since").toStdString()));
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
    stacks_.start([this, from = trace(), &row](std::atomic<bool> const& stopped) -> background::continuation {
        std::vector<stack_row> stack;
        std::vector<call_details_row> held;
        try {
            stack = from->stack(row.stack, row.thread);
            for (auto const& holder : row.holders) {
                if (stopped || held.size() == most_stacks) break;
                if (auto call = from->call(holder.since); call && holder.since != row.event)
                    held.push_back(std::move(*call));
            }
        } catch (store::error const& e) {
            stack.push_back({{}, {}, {}, 0, false, e.what()});
        }
        return [this, from, &row, stack, held] {
            text_->setHtml(html(row, stack_html(stack, palette())) + held_html(held, palette()));
        };
    });
}

}  // namespace lastref::gui
