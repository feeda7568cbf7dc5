// Manual pages in troff, section 1, from the commands' definitions and texts.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/manual/definition.h"

namespace lastref::cli::manual {

// What a definition does not say.
struct command_text {
    char const* command;                  // empty for the program itself
    std::vector<char const*> paragraphs;  // of the description
    std::vector<char const*> examples;    // command lines
};

command_text const& text_of(std::string const& command);

// "lastref", "lastref-record"
std::string page_name(std::string const& command);

// lastref(1), or lastref-COMMAND(1). `all` are all commands, the program itself first.
std::string page(command_definition const& command, std::vector<command_definition> const& all);

}  // namespace lastref::cli::manual
