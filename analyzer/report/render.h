// Reports: one file per format, and this one interface. Renderers see findings and named stacks, never the database's
// rows.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/report/verdict.h"

#include <optional>
#include <string>
#include <string_view>

namespace lastref::report {

enum class format { text, json };
std::optional<format> format_named(std::string_view name);

struct input {
    store::trace const& trace;
    findings::analysis const& what;
    findings::stacks& stacks;
    fail_on threshold;
};

struct style {
    bool colour = false;
    std::size_t width = 100;  // columns that lines are wrapped to
};

// The whole report, with a newline at its end.
std::string render(format as, input const& in, style const& how);

std::string render_text(input const& in, style const& how);
std::string render_json(input const& in);

}  // namespace lastref::report
