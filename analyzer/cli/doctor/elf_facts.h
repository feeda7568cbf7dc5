// What an ELF file says of itself. Only read, never loaded or run.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lastref::cli::doctor {

struct elf_facts {
    int bits = 0;     // 32 or 64
    int machine = 0;  // EM_* of <elf.h>
    std::string loader;
    std::vector<std::string> needed;  // libraries by name
    std::string search_path;          // RUNPATH or RPATH
    std::set<std::string> names;  // in the table of dynamic names: symbols imported and exported, versions, libraries

    bool needs(std::string const& prefix) const;  // a library whose name begins with it
    // The newest version of glibc that is referred to, as in "2.31"; empty where there is none.
    std::string newest_libc() const;
};

// Empty where the file cannot be read or is no ELF file. What is cut off or makes no sense is left out. Of a 32-bit
// file only `bits` and `machine` are told.
std::optional<elf_facts> read_elf(std::filesystem::path const& file);

}  // namespace lastref::cli::doctor
