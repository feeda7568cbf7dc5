// The program `lastref`: puts its commands together.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/left_over.h"
#include "analyzer/cli/program_arguments.h"
#include "analyzer/cli/version.h"

namespace lastref::cli {
namespace {

#ifdef LASTREF_HAVE_REPORT
void import_before(CLI::App& app, char const* name, std::vector<char const*> const& traces) {
    CLI::App* const command = app.get_subcommand(name);
    command->parse_complete_callback([command, traces] {
        for (auto const* option : traces) import_left_over(command->get_option(option)->as<std::string>());
    });
}

// These read traces; what recording has left over belongs into the trace first.
void add_readers(CLI::App& app, int& status) {
    add_report(app, status);
    add_diff(app, status);
    add_replay(app, status);
    add_query(app, status);
    add_symbolize(app, status);
    import_before(app, "report", {"trace"});
    import_before(app, "diff", {"before", "after"});
    import_before(app, "replay", {"trace"});
    import_before(app, "query", {"trace"});
    import_before(app, "symbolize", {"trace"});
}

// Recording and reading at once: the one command that needs both halves.
void add_both(CLI::App& app, int& status) {
    add_check(app, status);
}
#else
void add_readers(CLI::App&, int&) {}
void add_both(CLI::App&, int&) {}
#endif

// CLI11 has a number of its own for every mistake; ours is one.
int tell(CLI::App const& app, CLI::ParseError const& error) {
    return app.exit(error) == 0 ? exit_clean : exit_usage;
}

int run(int count, char** arguments) {
    CLI::App app("Shows what becomes of CUDA resources after their last reference is dropped", "lastref");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    int status = exit_clean;
    add_record(app, status);
    add_both(app, status);
    add_readers(app, status);
    add_import(app, status);
    add_demo(app, status);
    add_drain(app, status);
    add_doctor(app, status);
    add_completion(app, status);
    add_manual(app, status);
    add_probe(app, status);
    auto rest = take_program_arguments(count, arguments);
    try {
        app.parse(std::vector<std::string>(rest.rbegin(), rest.rend()));  // CLI11 takes the last argument first
    } catch (CLI::ParseError const& error) {
        return tell(app, error);
    }
    return status;
}

}  // namespace
}  // namespace lastref::cli

int main(int count, char** arguments) {
    return lastref::cli::run(count, arguments);
}
