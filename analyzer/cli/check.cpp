// `lastref check`: records, analyses, reports and gates in one command, for CI.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/program_arguments.h"
#include "analyzer/cli/recording.h"
#include "analyzer/cli/terminal.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace lastref::cli {
namespace {

namespace fs = std::filesystem;

struct check_arguments {
    record_arguments recording;
    report_options report;
    std::optional<int> gate_status;
};

// A folder of one's own that goes when it is done with.
class temporary_folder {
  public:
    temporary_folder() {
        char const* const given = std::getenv("TMPDIR");
        std::string pattern = std::string(given && *given ? given : "/tmp") + "/lastref-check-XXXXXX";
        if (mkdtemp(pattern.data())) path_ = pattern;
    }
    ~temporary_folder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    fs::path const& path() const { return path_; }  // empty where none could be made

  private:
    fs::path path_;
};

char const* meaning_of(int gate) {
    switch (gate) {
        case exit_clean:
            return "clean";
        case exit_findings:
            return "fails";
        case exit_incomplete:
            return "incomplete";
        default:
            return "no report";
    }
}

// The program's own failure comes first: it is what the program's tests say, and what lastref found may follow from it.
int combined(int program, int gate, check_arguments const& arguments) {
    int const failed = gate == exit_clean ? exit_clean : arguments.gate_status.value_or(gate);
    int const status = program != 0 ? program : failed;
    say("check: program ended with " + std::to_string(program) + " · report: " + meaning_of(gate) + " (" +
        std::to_string(gate) + ") · exit status " + std::to_string(status));
    return status;
}

int run(check_arguments& arguments) {
    check(arguments.report);
    std::optional<temporary_folder> folder;
    bool const kept = !arguments.recording.trace.empty();
    if (!kept) {
        auto const& made = folder.emplace().path();
        if (made.empty()) throw std::invalid_argument("no temporary folder can be made; name a trace with -o");
        arguments.recording.trace = (made / "check.lastref").string();
    }
    if (auto const problem = problem_with(arguments.recording)) {
        say(*problem);
        return exit_usage;
    }
    auto const recorded = record_and_tell(options_of(arguments.recording), !kept || arguments.recording.quiet);
    if (!recorded.error.empty()) return recorded.status;
    auto const gate = guarded([&] { return report_trace(recorded.trace.string(), arguments.report); });
    return combined(recorded.status, gate, arguments);
}

}  // namespace

void add_check(CLI::App& app, int& status) {
    auto const arguments = std::make_shared<check_arguments>();
    arguments->report.to_standard_error = true;
    CLI::App* const command = app.add_subcommand("check", "Run a program, record it, and fail on what is found");
    command->footer(
        "Usage: lastref check [options] -- PROGRAM ARGUMENTS…\n\n"
        "The program's input and output are its own; the report goes to standard error. The exit status is the "
        "program's\n"
        "own where that is not 0; else it is that of `lastref report`: 0 clean, 1 something fails, 2 wrong use, 3 the\n"
        "trace cannot be read, 4 nothing fails but the trace is incomplete. The last line says both.");
    add_record_options(*command, arguments->recording);
    add_reading_options(*command, arguments->report);
    add_report_options(*command, arguments->report);
    command
        ->add_option("--gate-status", arguments->gate_status,
                     "Exit with this instead of 1 to 4 when only the report fails")
        ->check(CLI::Range(1, 125));
    command->prefix_command();
    command->callback([command, arguments, &status] {
        take_rest_as_program(*command);
        status = guarded([&] { return run(*arguments); });
    });
}

}  // namespace lastref::cli
