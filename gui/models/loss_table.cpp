#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

namespace lastref::gui {
namespace {

using row = findings::loss_counter;

QString tr(char const* text) {
    return QCoreApplication::translate("losses", text);
}

}  // namespace

table_pointer loss_table(trace_pointer const& trace) {
    table_of<row>::description what;
    what.shown = {
        {tr("Count"), [](row const& l) { return count_text(static_cast<std::uint64_t>(l.count)); },
         [](row const& l) { return QVariant(static_cast<qlonglong>(l.count)); }, true},
        {tr("Loss"), [](row const& l) { return text_of(l.name); }},
        {tr("What it counts"), [](row const& l) { return text_of(l.text); }},
        {tr("May hide findings"), [](row const& l) { return l.hides ? tr("yes") : tr("no, details only"); }},
    };
    return std::make_unique<table_of<row>>(trace, trace->losses, std::move(what));
}

}  // namespace lastref::gui
