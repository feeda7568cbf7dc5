// `lastref report`: explains a trace, and says by its exit status whether it is clean.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>

namespace lastref::cli {

void add_report(CLI::App& app, int& status) {
    struct arguments {
        std::string trace;
        report_options options;
    };
    auto const given = std::make_shared<arguments>();
    auto* const command = app.add_subcommand("report", "Explain a trace");
    command->add_option("trace", given->trace, "The trace, as record wrote it")->required();
    command->add_option("--format", given->options.format, "text for people; the others for programs and for CI")
        ->check(CLI::IsMember(report::format_names()))
        ->capture_default_str();
    add_reading_options(*command, given->options);
    add_report_options(*command, given->options);
    command->add_flag("--check-file", given->options.check_file,
                      "Read all of the trace for damage first, which takes as long as reading it twice");
    command->add_option("-o,--output", given->options.output, "Write the report into a file");
    command->footer(
        "Exit status: 0 clean, 1 something fails, 2 wrong use, 3 the trace cannot be read,\n"
        "4 nothing fails but the trace is incomplete.");
    command->callback(
        [given, &status] { status = guarded([&] { return report_trace(given->trace, given->options); }); });
}

}  // namespace lastref::cli
