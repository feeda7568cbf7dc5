// `lastref diff`: what came and what went between two recordings.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain.h"
#include "analyzer/report/difference.h"

#include <fmt/core.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace lastref::cli {
namespace {

struct diff_arguments {
    std::string before, after;
    std::string format = "text";
    report_options options;
};

bool grew(gate::difference const& d) {
    return std::any_of(d.changed.begin(), d.changed.end(), [](auto const& pair) {
        return pair.after.count > pair.before.count || pair.after.bytes > pair.before.bytes;
    });
}

int run(diff_arguments const& given) {
    auto before = earlier_findings(given.before, given.options.symbols);
    auto const d = gate::compare(std::move(before), earlier_findings(given.after, given.options.symbols));
    auto const text = given.format == "json" ? report::render_difference_json(d)
                                             : report::render_difference_text(d, style_for(given.options));
    if (!write_file(text, given.options.output))
        throw std::invalid_argument(given.options.output + ": cannot be written");
    if (!d.came.empty() || grew(d)) return exit_findings;
    return d.complete() ? exit_clean : exit_incomplete;
}

}  // namespace

void add_diff(CLI::App& app, int& status) {
    auto const given = std::make_shared<diff_arguments>();
    auto* const command = app.add_subcommand("diff", "Compare two traces or reports");
    command->add_option("before", given->before, "A trace, or a report in JSON")->required();
    command->add_option("after", given->after, "Another one")->required();
    command->add_option("--format", given->format, "text for people, json for programs")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    add_reading_options(*command, given->options);
    command->add_option("-o,--output", given->options.output, "Write the comparison into a file");
    command->footer(
        "Exit status: 0 nothing came and nothing grew, 1 something did, 2 wrong use, 3 a trace cannot be read,\n"
        "4 as 0, but one of the two is incomplete.");
    command->callback([given, &status] { status = guarded([&] { return run(*given); }); });
}

}  // namespace lastref::cli
