// `lastref symbolize`: functions and lines into a trace, so that it can be read where its programs are not.
#include "analyzer/cli/symbolize.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/symbols/dwfl_source.h"
#include "collector/drain/symbol_rows.h"

namespace lastref::cli {
namespace {

void keep_file(drain::symbol_writer& writer, drain::code_in_file const& code, symbols::source& from,
               symbolized& so_far) {
    so_far.places += code.offsets.size();
    if (from.state(code.path, code.build_id) != symbols::source_state::found) {
        so_far.without_files.push_back(code.path);
        return;
    }
    writer.begin_file(code.path, code.build_id);
    for (auto const offset : code.offsets) {
        auto const functions = from.at(code.path, code.build_id, offset);
        std::int64_t position = 0;
        for (auto const& f : functions) writer.add({offset, position++, f.function, f.file, f.line, f.inlined});
        if (!functions.empty()) ++so_far.named;
    }
}

int run(std::string const& trace) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(trace, failed)) {
        say(trace + ": no such file");
        return exit_usage;
    }
    try {
        say(typed(trace) + ": " + sentence_of(keep_symbols(trace)));
        return exit_clean;
    } catch (drain::trace_error const& error) {
        say(error.what());
        return error.why() == drain::trace_error::kind::usage ? exit_usage : exit_unreadable;
    } catch (std::exception const& error) {
        say(trace + ": " + error.what());
        return exit_unreadable;
    }
}

}  // namespace

symbolized keep_symbols(std::filesystem::path const& path) {
    drain::trace_claim claim(path, drain::trace_claim::existing::continue_it);
    drain::trace_file trace(claim);
    symbolized out;
    {
        symbols::dwfl_source files;
        auto const all = drain::code_in_trace(trace);
        drain::symbol_writer writer(trace);
        for (auto const& code : all) keep_file(writer, code, files, out);
        writer.commit();
    }
    if (trace.meta("symbols") == "off") trace.remove_meta("symbols");
    trace.close_log();
    return out;
}

void want_no_symbols(std::filesystem::path const& path) {
    drain::trace_claim claim(path, drain::trace_claim::existing::continue_it);
    drain::trace_file trace(claim);
    trace.set_meta("symbols", std::string("off"));
    trace.close_log();
}

std::string sentence_of(symbolized const& what) {
    std::string out =
        "names of " + grouped(what.named) + " of " + counted(what.places, "place", "places") + " in code kept";
    if (!what.without_files.empty())
        out += "; " + counted(what.without_files.size(), "file is", "files are") + " not there as recorded, such as " +
               what.without_files.front();
    return out;
}

void add_symbolize(CLI::App& app, int& status) {
    auto const trace = std::make_shared<std::string>();
    auto* const command =
        app.add_subcommand("symbolize", "Keep functions and lines in a trace, for reading it elsewhere");
    command->add_option("trace", *trace, "The trace; the programs that it is of must still be here")->required();
    command->callback([trace, &status] { status = run(*trace); });
}

}  // namespace lastref::cli
