#include "gui/loader/stack_text.h"

#include "analyzer/report/stack_lines.h"

#include <charconv>

namespace lastref::gui {
namespace {

// "…/src/f.cpp:10" ends in the line; a file and an offset do not.
int line_of(std::string const& place) {
    auto const colon = place.rfind(':');
    int line = 0;
    if (colon != std::string::npos) std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
    return line;
}

stack_row row_of(report::stack_entry const& entry) {
    stack_row out;
    out.instead = entry.instead;
    if (!entry.line) return out;
    out.function = entry.line->function;
    out.place = entry.line->place;
    out.file = entry.line->file;
    out.line = entry.line->file.empty() ? 0 : line_of(entry.line->place);
    out.own = entry.line->owner == findings::code_owner::program;
    return out;
}

}  // namespace

std::vector<stack_row> stack_rows(report::input const& in, findings::site const& site) {
    std::vector<stack_row> out;
    for (auto const& entry : report::stack_entries(in, site)) out.push_back(row_of(entry));
    return out;
}

}  // namespace lastref::gui
