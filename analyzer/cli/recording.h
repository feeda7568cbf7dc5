// Recording as `record`, `check` and `demo` do it.
#pragma once

#include "collector/drain/recorder.h"

#include <CLI/App.hpp>

#include <optional>
#include <string>

namespace lastref::cli {

struct record_arguments {
    std::string trace, spool_parent, stacks, symbols = "later";
    bool replace = false, simulated = false, quiet = false, audit = false, cupti = false, no_arguments = false;
    double wait = 2;
};

// Adds the options; `arguments` must live as long as the command.
void add_record_options(CLI::App& command, record_arguments& arguments);

// What follows the options of a command that allows more (CLI::App::prefix_command): a program named without "--".
void take_rest_as_program(CLI::App const& command);

// Why nothing can be recorded, in one line for people.
std::optional<std::string> problem_with(record_arguments const& arguments);

drain::record_options options_of(record_arguments const& arguments);

// Records and says how it went, in one line; with `quiet`, only if something went wrong.
drain::record_result record_and_tell(drain::record_options const& options, bool quiet);

}  // namespace lastref::cli
