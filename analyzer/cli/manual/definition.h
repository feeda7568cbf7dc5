// The commands of this program as data: what `--help` shows, for manual pages and shells to be made from.
#pragma once

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace lastref::cli::manual {

struct option_definition {
    std::vector<std::string> names;  // "-o", "--output"; of a positional argument none
    std::string positional;          // its name, empty for an option
    std::string value;               // placeholder such as FILE; empty for a flag
    std::vector<std::string> choices;
    std::string description, by_default;
    bool required = false;
    bool repeated = false;
    bool number = false;  // the value is one; else, without choices, a file

    bool is_flag() const { return positional.empty() && value.empty(); }
};

struct command_definition {
    std::string name;  // empty for the program itself
    std::string description, footer;
    std::vector<option_definition> options, positionals;
    bool takes_program = false;  // what follows "--" is a program and its arguments

    std::string full_name() const { return name.empty() ? "lastref" : "lastref " + name; }
};

// The program itself first, then its commands in the order of --help, without those that are hidden.
std::vector<command_definition> definitions(CLI::App const& app);

}  // namespace lastref::cli::manual
