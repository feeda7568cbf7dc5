// Scripts by which shells complete lastref's command lines.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/manual/definition.h"

namespace lastref::cli::manual {

std::string bash_completion(std::vector<command_definition> const& all);
std::string zsh_completion(std::vector<command_definition> const& all);
std::string fish_completion(std::vector<command_definition> const& all);

}  // namespace lastref::cli::manual
