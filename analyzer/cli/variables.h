// The variables of the environment that lastref knows: for the manual, and for `doctor`, which finds misspelt ones.
#pragma once

#include <string>
#include <vector>

namespace lastref::cli {

struct variable_text {
    char const* name;
    char const* meaning;  // sentences
};

// Those for people, in alphabetical order.
std::vector<variable_text> const& variables();

// Also those by which lastref's parts talk to each other, and the simulated driver's (LASTREF_SIM_…).
bool is_known_variable(std::string const& name);

}  // namespace lastref::cli
