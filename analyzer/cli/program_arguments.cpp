#include "analyzer/cli/program_arguments.h"

#include <algorithm>
#include <string_view>

namespace lastref::cli {

std::vector<std::string>& program_arguments() {
    static std::vector<std::string> arguments;
    return arguments;
}

std::vector<std::string> take_program_arguments(int count, char const* const* arguments) {
    auto const* const end = arguments + count;
    auto const* const dashes = std::find(arguments + 1, end, std::string_view("--"));
    if (dashes != end) program_arguments().assign(dashes + 1, end);
    return {arguments + 1, dashes};
}

}  // namespace lastref::cli
