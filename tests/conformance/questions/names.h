#pragma once

#include <set>
#include <string>

namespace lastref::conformance {

// Names of all entry points in the tables of hooks and of the simulated driver, without version and stream suffix.
std::set<std::string> entry_point_names();

}  // namespace lastref::conformance
