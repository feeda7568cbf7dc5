#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

namespace lastref::gui {
namespace {

using row = finding_row;

QString tr(char const* text) {
    return QCoreApplication::translate("findings", text);
}

QString state_text(gate::state state) {
    switch (state) {
        case gate::state::open:
            return tr("open");
        case gate::state::known:
            return tr("known");
        case gate::state::suppressed:
            break;
    }
    return tr("suppressed");
}

facets facets_of(row const& f) {
    return {f.process, f.threads, f.streams, f.objects, f.rule, f.first_seen, f.last_seen};
}

table_of<row>::columns columns() {
    return {
        {tr("Finding"), [](row const& f) { return text_of(f.title); }},
        {tr("Rule"), [](row const& f) { return rule_text(f.rule); }},
        {tr("Where"), [](row const& f) { return place_text(f.place); }},
        {tr("Count"), [](row const& f) { return count_text(f.count); },
         [](row const& f) { return QVariant(static_cast<qulonglong>(f.count)); }, true, sum_of::count},
        {tr("Bytes"), [](row const& f) { return bytes_text(f.bytes); },
         [](row const& f) { return QVariant(static_cast<qulonglong>(f.bytes)); }, true, sum_of::bytes},
        {tr("First seen"), [](row const& f) { return time_text(f.first_seen); },
         [](row const& f) { return QVariant(static_cast<qlonglong>(f.first_seen)); }, true},
        {tr("State"), [](row const& f) { return state_text(f.state); }},
        {tr("Process"), [](row const& f) { return text_of(f.process_name); }},
    };
}

table_of<row>::description description() {
    table_of<row>::description what;
    what.shown = columns();
    what.facets_of = facets_of;
    what.filters = {filter_kind::time,   filter_kind::process, filter_kind::thread,
                    filter_kind::stream, filter_kind::object,  filter_kind::rule};
    what.severity = [](row const& f) { return static_cast<int>(f.severity); };
    what.event = [](row const& f) { return f.sites.empty() ? 0 : qint64{f.sites.front().event.value}; };
    return what;
}

}  // namespace

table_pointer finding_table(trace_pointer const& trace) {
    return std::make_unique<table_of<row>>(trace, trace->findings, description());
}

table_pointer finding_table(trace_pointer const& trace, std::vector<std::size_t> const& which) {
    auto const rows = std::make_shared<std::vector<row>>();
    for (auto const i : which) rows->push_back(trace->findings[i]);
    return std::make_unique<table_of<row>>(rows, *rows, description());
}

}  // namespace lastref::gui
