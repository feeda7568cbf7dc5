// Reports: one file per format, and this one interface. Renderers see findings, named stacks and what the gate made of
// them, never the database's rows.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/findings/ranges.h"
#include "analyzer/gate/gate.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::curves {
struct all_curves;
}

namespace lastref::report {

enum class format { text, json, sarif, junit, markdown, html };
std::optional<format> format_named(std::string_view name);
std::vector<std::string> format_names();

struct input {
    store::trace const& trace;
    findings::analysis const& what;
    findings::stacks& stacks;
    gate::outcome const& outcome;
    bool all_frames = false;                    // text and HTML: stacks as they are, nothing folded
    curves::all_curves const* drawn = nullptr;  // HTML: draws them; may be null
};

struct style {
    bool colour = false;
    std::size_t width = 100;       // columns that lines are wrapped to
    bool by_range = false;         // text: what each range left, too
    std::string source_root = {};  // SARIF: sources under this folder are named relative to it; absolute, may be empty
};

// The whole report, with a newline at its end.
std::string render(format as, input const& in, style const& how);

std::string render_text(input const& in, style const& how);
std::string render_json(input const& in);
std::string render_sarif(input const& in, style const& how);
std::string render_junit(input const& in);
std::string render_markdown(input const& in);
std::string render_html(input const& in);

// One finding as the text report has it, without colour. `number` stands before it.
std::string finding_text(input const& in, std::size_t finding, std::size_t number, style const& how);

// "2 errors, 1 warning" of what is open; "nothing found" (or "nothing new found").
std::string counts_text(input const& in);

// What each range left of open findings, in the order of the trace's ranges.
std::vector<findings::range_summary> left_by_range(input const& in);

// " after 1.234 s", how long the process was recorded; empty where that is not known.
std::string after_text(store::process const& p);

// Indices of the findings in one state, most important first.
std::vector<std::size_t> those(input const& in, gate::state state);

}  // namespace lastref::report
