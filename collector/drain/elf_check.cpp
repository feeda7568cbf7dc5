#include "collector/drain/elf_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr std::uint16_t machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t machine = EM_AARCH64;
#endif

constexpr int most_interpreters = 4;  // as the kernel: scripts interpreted by scripts

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t offset, Value& value) {
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

std::string read_text(std::ifstream& file, std::uint64_t offset, std::uint64_t size) {
    std::string text(size < 4096 ? size : 4096, '\0');
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text.substr(0, text.find('\0'));
}

// The loader that the program asks for; empty where it asks for none.
std::string loader_of(std::ifstream& file, Elf64_Ehdr const& header) {
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, segment)) return {};
        if (segment.p_type == PT_INTERP) return read_text(file, segment.p_offset, segment.p_filesz);
    }
    return {};
}

program_kind classify_elf(std::ifstream& file, fs::path const& program) {
    Elf64_Ehdr header;
    if (!read_at(file, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machine)
        return program_kind::other_machine;
    std::string const loader = loader_of(file, header);
    // The loader itself, called with a program as argument, has no loader of its own.
    if (loader.empty()) {
        bool const is_loader = program.filename().string().starts_with("ld-linux") || program.filename() == "ld.so";
        return is_loader ? program_kind::recordable : program_kind::statically_linked;
    }
    return loader.find("musl") == std::string::npos ? program_kind::recordable : program_kind::other_libc;
}

// The program named in "#! /path argument".
fs::path interpreter_of(std::ifstream& file) {
    std::string const line = read_text(file, 2, 256);
    auto const begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) return {};
    return line.substr(begin, line.find_first_of(" \t\r\n", begin) - begin);
}

program_kind classify(fs::path const& program, int interpreters_left) {
    std::ifstream file(program, std::ios::binary);
    char magic[4] = {};
    if (!file || !file.read(magic, 2)) return file.eof() ? program_kind::other : program_kind::unreadable;
    if (magic[0] == '#' && magic[1] == '!') {
        fs::path const interpreter = interpreter_of(file);
        return interpreters_left && !interpreter.empty() ? classify(interpreter, interpreters_left - 1)
                                                         : program_kind::other;
    }
    file.seekg(0);
    if (!file.read(magic, 4) || std::memcmp(magic, ELFMAG, SELFMAG) != 0) return program_kind::other;
    return classify_elf(file, program);
}

int executable_error(fs::path const& path) {
    struct stat status;
    if (stat(path.c_str(), &status)) return errno;
    if (!S_ISREG(status.st_mode)) return EACCES;
    return access(path.c_str(), X_OK) ? errno : 0;
}

}  // namespace

program_kind classify_program(fs::path const& program) {
    return classify(program, most_interpreters);
}

found_program find_program(std::string const& name, char const* path) {
    if (name.empty()) return {{}, ENOENT};
    if (name.find('/') != std::string::npos) return {name, executable_error(name)};
    std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
    found_program best{name, ENOENT};
    while (true) {
        auto const colon = rest.find(':');
        std::string_view const folder = rest.substr(0, colon);
        fs::path const candidate = fs::path(folder.empty() ? "." : folder) / name;
        int const error = executable_error(candidate);
        if (error == 0) return {candidate, 0};
        // A file that may not be run is told about only if none is found that may.
        if (error == EACCES && best.error == ENOENT) best = {candidate, error};
        if (colon == std::string_view::npos) return best;
        rest.remove_prefix(colon + 1);
    }
}

bool changes_user(fs::path const& program) {
    struct stat status;
    if (stat(program.c_str(), &status)) return false;
    bool const user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
    bool const group = (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid();
    return user || group;
}

}  // namespace lastref::drain
