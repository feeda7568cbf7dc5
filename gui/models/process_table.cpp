#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

namespace lastref::gui {
namespace {

using row = process_row;

QString tr(char const* text) {
    return QCoreApplication::translate("processes", text);
}

}  // namespace

table_pointer process_table(trace_pointer const& trace) {
    table_of<row>::description what;
    what.shown = {
        {tr("Process"), [](row const& p) { return text_of(p.name); }},
        {tr("Events"), [](row const& p) { return count_text(p.calls); },
         [](row const& p) { return QVariant(static_cast<qulonglong>(p.calls)); }, true},
        {tr("How it ended"), [](row const& p) { return text_of(p.end); }},
        {tr("Command"), [](row const& p) { return text_of(p.command_line); }},
    };
    what.facets_of = [](row const& p) { return facets{p.id, {}, {}, {}, {}, 0, 0}; };
    what.filters = {filter_kind::process};
    return std::make_unique<table_of<row>>(trace, trace->process_rows, std::move(what));
}

}  // namespace lastref::gui
