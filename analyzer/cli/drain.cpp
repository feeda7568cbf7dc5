// `lastref drain`: the detached drain that a program with a bare LD_PRELOAD starts for itself.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/terminal.h"
#include "collector/drain/import.h"

namespace lastref::cli {
namespace {

// It belongs to no terminal and ends when its work is done: what ends the program must not end it.
void detach() {
    setsid();
    for (int const one : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) signal(one, SIG_IGN);
    [[maybe_unused]] int const moved = chdir("/");
}

int run(std::filesystem::path const& folder, std::filesystem::path const& trace, std::uint32_t pid) {
    detach();
    try {
        auto const outcome = drain::drain_detached(folder, trace, pid);
        if (!outcome.error.empty())
            say(outcome.error + " · the rest: lastref import " + typed(folder) + " -o " + typed(trace));
        return outcome.error.empty() ? exit_clean : exit_usage;
    } catch (std::exception const& error) {
        say(error.what());
        return exit_usage;
    }
}

}  // namespace

void add_drain(CLI::App& app, int& status) {
    struct drain_arguments {
        std::string folder, trace;
        std::uint32_t pid = 0;
    };
    auto const arguments = std::make_shared<drain_arguments>();
    CLI::App* const command = app.add_subcommand("drain", "Drain the spools of a folder while their processes run");
    command->group("");  // not for people
    command->add_option("--spool-dir", arguments->folder)->required();
    command->add_option("-o,--output", arguments->trace)->required();
    command->add_option("--pid", arguments->pid);
    command->callback([arguments, &status] {
        status = run(std::filesystem::absolute(arguments->folder), std::filesystem::absolute(arguments->trace),
                     arguments->pid);
    });
}

}  // namespace lastref::cli
