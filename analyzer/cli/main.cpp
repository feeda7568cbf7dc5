// The program `lastref`: puts its commands together.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/left_over.h"
#include "analyzer/cli/program_arguments.h"

namespace lastref::cli {
namespace {

#ifdef LASTREF_HAVE_REPORT
// These read traces; what recording has left over belongs into the trace first.
void add_readers(CLI::App& app, int& status) {
    add_report(app, status);
    add_query(app, status);
    for (auto const* name : {"report", "query"}) {
        CLI::App* const command = app.get_subcommand(name);
        command->parse_complete_callback(
            [command] { import_left_over(command->get_option("trace")->as<std::string>()); });
    }
}
#else
void add_readers(CLI::App&, int&) {}
#endif

// CLI11 has a number of its own for every mistake; ours is one.
int tell(CLI::App const& app, CLI::ParseError const& error) {
    return app.exit(error) == 0 ? exit_clean : exit_usage;
}

int run(int count, char** arguments) {
    CLI::App app("Shows what becomes of CUDA resources after their last reference is dropped", "lastref");
    app.set_version_flag("--version", "lastref " LASTREF_VERSION);
    app.require_subcommand(1);
    int status = exit_clean;
    add_record(app, status);
    add_readers(app, status);
    add_import(app, status);
    add_demo(app, status);
    add_drain(app, status);
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
