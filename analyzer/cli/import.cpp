// `lastref import`: left-over spools into a trace.
#include "collector/drain/import.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/left_over.h"
#include "analyzer/cli/terminal.h"

namespace lastref::cli {
namespace {

namespace fs = std::filesystem;

int tell_unreadable(std::vector<drain::unreadable_spool> const& spools) {
    for (auto const& spool : spools) say(typed(spool.path) + " " + spool.reason);
    return spools.empty() ? exit_clean : exit_unreadable;
}

void tell(drain::drain_counts const& counts, fs::path const& trace) {
    std::string const unfinished =
        counts.unfinished ? " (" + counted(counts.unfinished, "process is", "processes are") + " still running)"
                          : std::string();
    say(counted(counts.calls, "call", "calls") + " of " + counted(counts.processes, "process", "processes") + " → " +
        typed(trace) + unfinished + " · next: lastref report " + typed(trace));
}

int run(fs::path const& path, fs::path const& trace) {
    if (drain::spools_at(path).empty()) {
        std::error_code failed;
        say(typed(path) + (fs::exists(path, failed) ? " holds no spool" : " is not there"));
        return exit_usage;
    }
    drain::import_result result;
    {
        progress_line line;
        result = drain::import_spools(
            path, trace, [&line](std::uint64_t records) { line.show("importing, " + grouped(records) + " records"); });
    }
    int const status = tell_unreadable(result.outcome.unreadable);
    if (!result.outcome.error.empty()) {
        say(typed(trace) + " can't be written: " + result.outcome.error + "; what is missing is still in " +
            typed(path));
        return exit_usage;
    }
    if (result.outcome.counts.processes || status == exit_clean) tell(result.outcome.counts, trace);
    return status;
}

int guarded(fs::path const& path, fs::path const& trace) {
    try {
        return run(path, trace);
    } catch (drain::trace_error const& error) {
        say(error.what());
        return error.why() == drain::trace_error::kind::unreadable ? exit_unreadable : exit_usage;
    } catch (std::exception const& error) {
        say(error.what());
        return exit_usage;
    }
}

}  // namespace

void import_left_over(fs::path const& trace) {
    progress_line line;
    drain::import_rest(trace, [&line](std::uint64_t records) {
        line.show("importing what recording has left over, " + grouped(records) + " records");
    });
}

void add_import(CLI::App& app, int& status) {
    struct import_arguments {
        std::string spool, trace;
    };
    auto const arguments = std::make_shared<import_arguments>();
    CLI::App* const command = app.add_subcommand("import", "Make a trace of spools that were left over");
    command->add_option("spool", arguments->spool, "A spool, or a folder of them")->required();
    command->add_option("-o,--output", arguments->trace,
                        "The trace to make or go on with; named after the spool where not given");
    command->footer("Exit status: 0 done, 2 wrong use, 3 a spool can't be read.");
    command->callback([arguments, &status] {
        status = guarded(arguments->spool, arguments->trace.empty() ? drain::default_trace(arguments->spool)
                                                                    : fs::path(arguments->trace));
    });
}

}  // namespace lastref::cli
