// `lastref replay`: a trace's payload callbacks through the reference clean-up queue.
#include "analyzer/report/replay.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/share_line.h"
#include "analyzer/report/escape.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <functional>
#include <memory>
#include <stdexcept>

namespace lastref::cli {
namespace {

struct replay_arguments {
    std::string trace;
    std::string format = "text";
    std::string consumer = "main";
    std::string output;
};

int run(replay_arguments const& given) {
    auto const who = given.consumer == "main" ? replay::consumer::main_thread : replay::consumer::any_thread;
    auto const trace = store::trace::open(given.trace);
    auto const what = [&] {
        share_line progress("replaying " + report::escaped(trace.path()));
        return replay::replay(trace, who, std::ref(progress));
    }();
    auto const text = given.format == "json" ? report::render_replay_json(trace, what, who)
                                             : report::render_replay_text(trace, what, who);
    if (!write_file(text, given.output))
        throw std::invalid_argument((given.output.empty() ? "standard output" : given.output) + ": cannot be written");
    return what.incomplete.empty() ? exit_clean : exit_incomplete;
}

}  // namespace

void add_replay(CLI::App& app, int& status) {
    auto const given = std::make_shared<replay_arguments>();
    auto* const command =
        app.add_subcommand("replay", "Feed a trace's payload callbacks through the reference clean-up queue");
    command->add_option("trace", given->trace, "The trace, as record wrote it")->required();
    command->add_option("--format", given->format, "text for people, json for programs")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command
        ->add_option("--consumer", given->consumer,
                     "Whose returning driver calls are the reference's safe points: main, the main thread's; any, "
                     "those of every thread")
        ->check(CLI::IsMember({"main", "any"}))
        ->capture_default_str();
    command->add_option("-o,--output", given->output, "Write the comparison into a file");
    command->footer(
        "Exit status: 0 replayed, 2 wrong use, 3 the trace cannot be read, 4 replayed, but the trace is incomplete.");
    command->callback([given, &status] { status = guarded([&] { return run(*given); }); });
}

}  // namespace lastref::cli
