#include <QCoreApplication>

#include "gui/models/tables.h"
#include "gui/models/words.h"

#include <algorithm>

namespace lastref::gui {
namespace {

using row = replay_row;

QString tr(char const* text) {
    return QCoreApplication::translate("replay", text);
}

}  // namespace

table_pointer replay_table(std::vector<row> rows) {
    auto const kept = std::make_shared<std::vector<row> const>(std::move(rows));
    table_of<row>::description what;
    what.shown = {{tr("Clean-ups"), [](row const& r) { return text_of(r.what); }},
                  {tr("Observed"), [](row const& r) { return text_of(r.observed); }, {}, true},
                  {tr("Reference"), [](row const& r) { return text_of(r.reference); }, {}, true}};
    bool const several = std::any_of(kept->begin(), kept->end(), [](auto const& r) { return !r.process.empty(); });
    if (several) what.shown.push_back({tr("Process"), [](row const& r) { return text_of(r.process); }});
    return std::make_unique<table_of<row>>(kept, *kept, std::move(what));
}

}  // namespace lastref::gui
