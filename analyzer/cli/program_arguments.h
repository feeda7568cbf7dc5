// The recorded program's arguments, which are nobody's business but the program's.
#pragma once

#include <string>
#include <vector>

namespace lastref::cli {

// What stands behind the first "--" of lastref's command line, whatever it looks like.
std::vector<std::string>& program_arguments();

// Takes that part off the command line and returns the rest, without the name of lastref itself.
std::vector<std::string> take_program_arguments(int count, char const* const* arguments);

}  // namespace lastref::cli
