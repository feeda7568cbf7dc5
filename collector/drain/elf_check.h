// Can a program be recorded at all? A library is preloaded only into dynamically linked programs of its own
// architecture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lastref::drain {

enum class program_kind {
    recordable,
    unreadable,  // exists but can't be read: the system decides whether it runs
    other,       // neither an ELF file nor a script with an interpreter line
    statically_linked,
    other_machine,  // 32 bits, or another architecture
    other_libc,     // the loader is not glibc's
};

// Follows the interpreter line of scripts.
program_kind classify_program(std::filesystem::path const& program);

// Where the shell's rules find the program: `name` itself where it holds a slash, else along `path` (as in $PATH).
struct found_program {
    std::filesystem::path path;
    int error;  // 0, ENOENT, EACCES …
};
found_program find_program(std::string const& name, char const* path);

// Will the system ignore LD_PRELOAD since running it changes the user or group?
bool changes_user(std::filesystem::path const& program);

}  // namespace lastref::drain
