#include "analyzer/cli/doctor/files.h"

#include <cstdlib>
#include <fstream>

#include "collector/drain/elf_check.h"

namespace lastref::cli::doctor {
namespace {

constexpr std::size_t longest_line = 4096;

}  // namespace

std::string line_with(std::filesystem::path const& file, std::string const& part) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (line.find(part) != std::string::npos) return line.substr(0, longest_line);
    return {};
}

std::string first_line(std::filesystem::path const& file) {
    return line_with(file, {});
}

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value ? value : "";
}

std::filesystem::path in_path(std::string const& file) {
    auto const found = drain::find_program(file, std::getenv("PATH"));
    return found.error == 0 ? found.path : std::filesystem::path();
}

std::string amount(std::uint64_t bytes) {
    char const* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 10240 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
    return std::to_string(bytes) + " " + units[unit];
}

}  // namespace lastref::cli::doctor
