// `lastref record`: runs a program and records it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/folders.h"
#include "analyzer/cli/program_arguments.h"
#include "analyzer/cli/recording.h"
#include "analyzer/cli/symbolize.h"
#include "analyzer/cli/terminal.h"

namespace lastref::cli {
namespace {

std::string state_of(drain::record_result const& result) {
    if (!result.write_error.empty()) return "incomplete: " + result.write_error;
    if (result.unfinished)
        return "unfinished: " + counted(result.unfinished, "process is", "processes are") + " still running";
    return result.losses ? "incomplete" : "complete";
}

std::string next_command(drain::record_result const& result) {
    if (result.spools_left && !result.write_error.empty())
        return "lastref import " + typed(*result.spools_left) + " -o " + typed(result.trace);
    return "lastref report " + typed(result.trace);
}

std::string summary(drain::record_result const& result) {
    std::string const what = result.processes == 0 ? "nothing was recorded: the program never called the CUDA driver"
                                                   : counted(result.calls, "call", "calls") + " of " +
                                                         counted(result.processes, "process", "processes");
    return what + " → " + typed(result.trace) + " (" + state_of(result) + ") · next: " + next_command(result);
}

// The recording is there, whatever becomes of its symbols.
void mind_symbols([[maybe_unused]] std::filesystem::path const& trace, [[maybe_unused]] std::string const& wish) {
#ifdef LASTREF_HAVE_REPORT
    std::error_code failed;
    if (wish == "later" || !std::filesystem::exists(trace, failed)) return;
    try {
        if (wish == "now")
            keep_symbols(trace);
        else
            want_no_symbols(trace);
    } catch (std::exception const& error) {
        say("symbols: " + std::string(error.what()) + " · again: lastref symbolize " + typed(trace));
    }
#endif
}

int run(record_arguments const& arguments) {
    if (auto const problem = problem_with(arguments)) {
        say(*problem);
        return exit_usage;
    }
    auto const recorded = record_and_tell(options_of(arguments), arguments.quiet);
    if (recorded.error.empty()) mind_symbols(recorded.trace, arguments.symbols);
    return recorded.status;
}

}  // namespace

std::optional<std::string> problem_with(record_arguments const& arguments) {
    if (program_arguments().empty())
        return "no program to record · usage: lastref record [options] -- PROGRAM ARGUMENTS…";
    if (arguments.simulated && !std::filesystem::exists(simulated_driver()))
        return "the simulated driver is not there: " + simulated_driver().string();
    return std::nullopt;
}

drain::record_options options_of(record_arguments const& arguments) {
    drain::record_options options;
    options.command = program_arguments();
    if (!arguments.trace.empty()) options.trace = arguments.trace;
    options.replace = arguments.replace;
    if (!arguments.stacks.empty()) options.stacks = arguments.stacks;
    if (arguments.simulated) options.simulated = simulated_driver();
    if (!arguments.spool_parent.empty()) options.spool_parent = arguments.spool_parent;
    options.arguments = !arguments.no_arguments;
    options.library = injected_library();
    options.cupti_library = cupti_library();
    if (arguments.audit) options.with_cupti = drain::record_options::cupti::audit;
    if (arguments.cupti) options.with_cupti = drain::record_options::cupti::activities;
    options.grace = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.wait * 1000));
    return options;
}

drain::record_result record_and_tell(drain::record_options const& options, bool quiet) {
    drain::record_result result;
    {
        progress_line line;
        result = drain::record(options, {.note = say, .progress = [&line](std::uint64_t records) {
                                             line.show("writing the trace, " + grouped(records) + " records");
                                         }});
    }
    if (!result.error.empty())
        say(result.error);
    else if (!quiet || result.spools_left)
        say(summary(result));
    return result;
}

void add_record_options(CLI::App& command, record_arguments& arguments) {
    command.add_option("-o,--output", arguments.trace, "The trace");
    command.add_flag("--force", arguments.replace, "Replace a trace that is there already");
    command
        .add_option("--stacks", arguments.stacks,
                    "Call stacks: none, of what creates, frees or fails, or of every call")
        ->check(CLI::IsMember({"off", "create", "all"}));
    command.add_flag("--audit", arguments.audit,
                     "Count driver calls by CUPTI too: the report says whether any was missed");
    command.add_flag("--cupti", arguments.cupti, "Record what the device did, by CUPTI; counts calls as --audit does");
    command.add_flag(
        "--no-args", arguments.no_arguments,
        "Leave the values of arguments out of the trace: the program's own, and what it says through NVTX");
    command.add_flag("--sim", arguments.simulated, "Let the program find the simulated driver");
    command.add_option("--spool-dir", arguments.spool_parent, "Make the folder for the spools in this one");
    command.add_option("--wait", arguments.wait, "Seconds to wait for processes that outlive the program")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    command.add_flag("-q,--quiet", arguments.quiet, "No summary");
}

void take_rest_as_program(CLI::App const& command) {
    auto const rest = command.remaining();
    program_arguments().insert(program_arguments().begin(), rest.begin(), rest.end());
}

void add_record(CLI::App& app, int& status) {
    auto const arguments = std::make_shared<record_arguments>();
    CLI::App* const command = app.add_subcommand("record", "Run a program and record it");
    command->footer(
        "Usage: lastref record [options] -- PROGRAM ARGUMENTS…\n\n"
        "Without -o the trace is PROGRAM-PID.lastref in this folder. The exit status is the program's own, 128 + n "
        "after\n"
        "signal n; 127 where there is no such program, 126 where it can't be run or recorded, 2 where recording could "
        "not\n"
        "begin.");
    add_record_options(*command, *arguments);
    command
        ->add_option("--symbols", arguments->symbols,
                     "Functions and lines: kept in the trace now; looked up by who reads it, later; or off")
        ->check(CLI::IsMember({"off", "now", "later"}))
        ->capture_default_str();
    command->prefix_command();
    command->callback([command, arguments, &status] {
        take_rest_as_program(*command);
        status = run(*arguments);
    });
}

}  // namespace lastref::cli
