// `lastref demo`: records the demo workload on the simulated driver and shows the report.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/folders.h"
#include "analyzer/cli/recording.h"
#include "analyzer/cli/terminal.h"

namespace lastref::cli {
namespace {

namespace fs = std::filesystem;

// A trace that stays, so that what is printed last can be typed.
fs::path temporary_trace() {
    char const* const given = std::getenv("TMPDIR");
    std::string pattern = std::string(given && *given ? given : "/tmp") + "/lastref-demo-XXXXXX";
    char const* const made = mkdtemp(pattern.data());
    return made ? fs::path(made) / "demo.lastref" : fs::path("demo.lastref");
}

// Exit status of another command of this program, run as a user would.
int run_lastref(char const* command, fs::path const& trace) {
    std::fflush(nullptr);
    std::string const program = this_program().string();
    pid_t const child = fork();
    if (child == 0) {
        execl(program.c_str(), "lastref", command, trace.c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return exit_usage;
    return WIFEXITED(status) ? WEXITSTATUS(status) : exit_usage;
}

void tell_what_next(fs::path const& trace) {
    std::string const me = typed(this_program());
    std::printf(
        "\nTo record a program of your own:\n\n    %s record -o my.lastref -- ./my-program\n    %s report "
        "my.lastref\n\n"
        "The demo's trace is %s. To look into it:\n\n    %s query %s 'SELECT * FROM outstanding_payloads'\n"
        "    %s report %s --format html -o demo.html\n",
        me.c_str(), me.c_str(), trace.c_str(), me.c_str(), typed(trace).c_str(), me.c_str(), typed(trace).c_str());
}

int run(std::string const& output, bool replace) {
    fs::path const program = workload("demo");
    if (!fs::exists(program) || !fs::exists(simulated_driver())) {
        say("the demo was not built: " + program.string() + " or " + simulated_driver().string() + " is missing");
        return exit_usage;
    }
    drain::record_options options;
    options.command = {program.string()};
    options.trace = output.empty() ? temporary_trace() : fs::path(output);
    options.replace = replace;
    options.simulated = simulated_driver();
    options.library = injected_library();
    auto const recorded = record_and_tell(options, false);
    if (!recorded.error.empty()) return recorded.status;
    int const reported = run_lastref("report", recorded.trace);
    if (reported != exit_clean && reported != exit_findings && reported != exit_incomplete) return reported;
    tell_what_next(recorded.trace);
    return exit_clean;
}

}  // namespace

void add_demo(CLI::App& app, int& status) {
    struct demo_arguments {
        std::string trace;
        bool replace = false;
    };
    auto const arguments = std::make_shared<demo_arguments>();
    CLI::App* const command =
        app.add_subcommand("demo", "Record a small faulty program on the simulated driver, and report");
    command->add_option("-o,--output", arguments->trace, "The trace; in a new temporary folder where not given");
    command->add_flag("--force", arguments->replace, "Replace a trace that is there already");
    command->callback([arguments, &status] { status = run(arguments->trace, arguments->replace); });
}

}  // namespace lastref::cli
