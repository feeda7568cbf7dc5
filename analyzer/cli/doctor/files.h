// Small looks at files and the environment.
#pragma once

#include <filesystem>
#include <string>

namespace lastref::cli::doctor {

// The first line of a file, without its end; empty where it cannot be read. At most 4 KiB.
std::string first_line(std::filesystem::path const& file);
// The first line of a file that holds `part`.
std::string line_with(std::filesystem::path const& file, std::string const& part);
// A variable of the environment; empty where it is not set.
std::string variable(char const* name);
// "$name"'s first file called `file` in the folders of $PATH; empty where there is none.
std::filesystem::path in_path(std::string const& file);
// "512 MiB"
std::string amount(std::uint64_t bytes);

}  // namespace lastref::cli::doctor
