#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

namespace lastref::gui {
namespace {

using row = difference_row;

QString tr(char const* text) {
    return QCoreApplication::translate("difference", text);
}

QString change_text(change c) {
    switch (c) {
        case change::came:
            return tr("new");
        case change::went:
            return tr("gone");
        case change::grew:
            return tr("more");
        case change::shrank:
            return tr("less");
        case change::unchanged:
            break;
    }
    return tr("the same");
}

gate::earlier_finding const& either(row const& r) {
    return r.after.fingerprint.empty() ? r.before : r.after;
}

change change_of(gate::pair_of_findings const& pair) {
    bool const grew = pair.after.count > pair.before.count || pair.after.bytes > pair.before.bytes;
    return grew ? change::grew : change::shrank;
}

// What is new first: that is what one looks for.
std::vector<row> rows_of(gate::difference const& d) {
    std::vector<row> out;
    for (auto const& f : d.came) out.push_back({change::came, {}, f});
    for (auto const& pair : d.changed) out.push_back({change_of(pair), pair.before, pair.after});
    for (auto const& f : d.went) out.push_back({change::went, f, {}});
    for (auto const& f : d.unchanged) out.push_back({change::unchanged, f, f});
    return out;
}

template <class Text, class Member>
column<row> numbers(QString title, gate::earlier_finding row::*side, Member gate::earlier_finding::*member, Text text) {
    return {std::move(title), [=](row const& r) { return text((r.*side).*member); },
            [=](row const& r) { return QVariant(static_cast<qulonglong>((r.*side).*member)); }, true};
}

QString count_or_none(std::uint64_t count) {
    return count == 0 ? QString() : count_text(count);
}

int severity_of(row const& r) {
    auto const& name = either(r).severity;
    for (auto const s : {findings::severity::error, findings::severity::warning})
        if (name == findings::name_of(s)) return static_cast<int>(s);
    return static_cast<int>(findings::severity::note);
}

}  // namespace

table_pointer difference_table(gate::difference const& difference) {
    auto const rows = std::make_shared<std::vector<row> const>(rows_of(difference));
    table_of<row>::description what;
    what.shown = {
        {tr("Finding"), [](row const& r) { return text_of(either(r).title); }},
        {tr("Change"), [](row const& r) { return change_text(r.change); },
         [](row const& r) { return QVariant(static_cast<int>(r.change)); }},
        {tr("Rule"), [](row const& r) { return text_of(either(r).rule); }},
        {tr("Where"), [](row const& r) { return place_text(either(r).place); }},
        numbers(tr("Count before"), &row::before, &gate::earlier_finding::count, count_or_none),
        numbers(tr("Count after"), &row::after, &gate::earlier_finding::count, count_or_none),
        numbers(tr("Bytes before"), &row::before, &gate::earlier_finding::bytes, bytes_text),
        numbers(tr("Bytes after"), &row::after, &gate::earlier_finding::bytes, bytes_text),
    };
    what.severity = severity_of;
    return std::make_unique<table_of<row>>(rows, *rows, std::move(what));
}

}  // namespace lastref::gui
