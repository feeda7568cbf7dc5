#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

namespace lastref::gui {
namespace {

using row = suppression_row;

QString tr(char const* text) {
    return QCoreApplication::translate("suppressions", text);
}

}  // namespace

table_pointer suppression_table(trace_pointer const& trace) {
    table_of<row>::description what;
    what.shown = {
        {tr("Matches"), [](row const& s) { return s.matches == 0 ? tr("none: stale") : count_text(s.matches); },
         [](row const& s) { return QVariant(static_cast<qulonglong>(s.matches)); }, true},
        {tr("Suppression"), [](row const& s) { return text_of(s.text); }},
        {tr("File"), [](row const& s) { return QStringLiteral("%1:%2").arg(text_of(s.file)).arg(s.line); }},
    };
    return std::make_unique<table_of<row>>(trace, trace->suppressions, std::move(what));
}

}  // namespace lastref::gui
