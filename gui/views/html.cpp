#include "gui/views/html.h"

#include "gui/models/words.h"
#include "gui/views/colours.h"

#include <QCoreApplication>
#include <QStringList>
#include <QUrl>

#include <algorithm>

namespace lastref::gui {
namespace {

QString tr(char const* text) {
    return QCoreApplication::translate("finding_details", text);
}

QString coloured(QString const& html, QColor const& colour) {
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(colour.name(QColor::HexRgb), html);
}

// Rich text knows no transparency: mix it with what is behind.
QColor faint(QPalette const& palette) {
    auto const text = palette.color(QPalette::Text), base = palette.color(QPalette::Base);
    auto const mix = [](int a, int b) { return (a * 68 + b * 32) / 100; };
    return {mix(text.red(), base.red()), mix(text.green(), base.green()), mix(text.blue(), base.blue())};
}

QString heading(QString const& text) {
    return QStringLiteral("<h4 style=\"margin-bottom:2px\">%1</h4>").arg(text.toHtmlEscaped());
}

QString paragraph(std::string const& text) {
    return text.empty() ? QString() : QStringLiteral("<p style=\"margin-top:0px\">%1</p>").arg(escaped(text));
}

QString section(QString const& title, std::string const& text) {
    return text.empty() ? QString() : heading(title) + paragraph(text);
}

QString list(std::vector<std::string> const& lines) {
    if (lines.empty()) return {};
    QString out = QStringLiteral("<ul style=\"margin-top:0px;margin-left:14px;-qt-list-indent:0\">");
    for (auto const& line : lines) out += QStringLiteral("<li>%1</li>").arg(escaped(line));
    return out + QStringLiteral("</ul>");
}

QString place_html(stack_row const& row, QPalette const& palette) {
    auto const text = escaped(row.place);
    if (row.file.empty() || row.line == 0) return coloured(text, faint(palette));
    auto const link =
        QStringLiteral("source:%1:%2").arg(row.line).arg(QString::fromUtf8(QUrl::toPercentEncoding(text_of(row.file))));
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(link, text);
}

QString line_html(stack_row const& row, QPalette const& palette) {
    if (!row.instead.empty()) return coloured(escaped(row.instead), faint(palette));
    auto const function = place_text(row.function).toHtmlEscaped();
    auto const name = row.own ? QStringLiteral("<b>%1</b>").arg(function) : function;
    return QStringLiteral("%1 &nbsp; %2").arg(name, place_html(row, palette));
}

QString site_html(site_row const& site, QPalette const& palette) {
    auto head = QStringLiteral("<b>%1</b> %2").arg(escaped(site.role), escaped(site.where));
    if (!site.entry_point.empty()) head += QStringLiteral(": ") + event_link(site.event, site.entry_point);
    if (!site.note.empty()) head += QStringLiteral("<br>") + coloured(escaped(site.note), faint(palette));
    return QStringLiteral("<p style=\"margin-bottom:0px\">%1</p>%2").arg(head, stack_html(site.stack, palette));
}

QString sites_html(std::vector<site_row> const& sites, QPalette const& palette) {
    QString out;
    for (auto const& site : sites) out += site_html(site, palette);
    return out;
}

QString head_html(finding_row const& f, QPalette const& palette) {
    auto const severity =
        coloured(QStringLiteral("<b>%1</b>").arg(severity_text(f.severity)), severity_colour(f.severity, palette));
    return QStringLiteral(
               "<h3 style=\"margin-bottom:2px\">%1</h3><p style=\"margin-top:0px\">%2 · <tt>%3</tt> · %4</p>")
        .arg(escaped(f.title), severity, rule_text(f.rule), escaped(f.process_name));
}

QString objects_html(finding_row const& f) {
    constexpr std::size_t most = 12;
    QStringList out;
    for (std::size_t i = 0; i < std::min(most, f.objects.size()); ++i) out << object_link(f.process, f.objects[i]);
    if (out.isEmpty()) return {};
    if (f.objects.size() > most) out << tr("and %1 more").arg(f.objects.size() - most);
    return heading(tr("Objects")) +
           QStringLiteral("<p style=\"margin-top:0px\">%1</p>").arg(out.join(QStringLiteral(", ")));
}

QString consequences_html(finding_row const& f, QPalette const& palette) {
    if (f.consequences.empty()) return {};
    auto out = heading(tr("What follows from it"));
    for (auto const& each : f.consequences)
        out += QStringLiteral("<p style=\"margin-top:0px\">%1 (<tt>%2</tt>)</p>")
                   .arg(escaped(each.text), escaped(each.rule)) +
               sites_html(each.sites, palette);
    return out;
}

QString sure_html(finding_row const& f) {
    auto text = text_of(f.confidence);
    if (!f.confidence_reason.empty()) text += QStringLiteral(": ") + text_of(f.confidence_reason);
    return heading(tr("How sure")) + QStringLiteral("<p style=\"margin-top:0px\">%1</p>").arg(text.toHtmlEscaped());
}

}  // namespace

QString escaped(std::string const& text) {
    return text_of(text).toHtmlEscaped();
}

QString object_link(store::process_id process, store::handle handle) {
    if (handle == 0) return {};
    return QStringLiteral("<a href=\"object:%1:%2\">%3</a>")
        .arg(process.value)
        .arg(handle, 0, 16)
        .arg(handle_text(handle));
}

QString event_link(store::event_id event, std::string const& text) {
    return QStringLiteral("<a href=\"event:%1\">%2</a>").arg(event.value).arg(escaped(text));
}

QString stack_html(std::vector<stack_row> const& stack, QPalette const& palette) {
    // What is too long for a line goes on further to the right.
    auto const line = QStringLiteral("<p style=\"margin:0px 0px 0px 28px;text-indent:-12px\">%1</p>");
    QString out;
    for (auto const& row : stack) out += line.arg(line_html(row, palette));
    return out;
}

QString finding_html(finding_row const& f, QPalette const& palette) {
    auto out = head_html(f, palette) + list(f.what);
    out += section(tr("What to do"), f.advice);
    out += section(tr("Why it matters"), f.why);
    if (!f.holders.empty()) out += heading(tr("Who holds it")) + list(f.holders);
    if (!f.sites.empty()) out += heading(tr("Where")) + sites_html(f.sites, palette);
    return out + consequences_html(f, palette) + objects_html(f) + sure_html(f);
}

QString call_html(call_details_row const& call, QPalette const& palette) {
    auto out = QStringLiteral("<p style=\"margin-bottom:2px\"><b>%1</b> %2")
                   .arg(escaped(call.entry_point), escaped(call.where));
    if (!call.result.empty())
        out +=
            QStringLiteral(": ") + coloured(escaped(call.result), severity_colour(findings::severity::error, palette));
    QStringList facts;
    for (auto const& fact : call.facts)
        facts << QStringLiteral("%1 %2").arg(
            escaped(fact.name), fact.object != 0 ? object_link(call.process, fact.object) : escaped(fact.text));
    if (!facts.isEmpty()) out += QStringLiteral("<br>") + coloured(facts.join(QStringLiteral(" · ")), faint(palette));
    out += QStringLiteral("</p>");
    if (call.stack.empty()) return out + coloured(tr("No stack was recorded of this call."), faint(palette));
    return out + stack_html(call.stack, palette);
}

source_place source_of_link(QString const& link) {
    auto const parts = link.split(QLatin1Char(':'));
    if (parts.size() < 3 || parts[0] != QStringLiteral("source")) return {};
    return {QUrl::fromPercentEncoding(parts.mid(2).join(QLatin1Char(':')).toUtf8()), parts[1].toInt()};
}

}  // namespace lastref::gui
