#include "analyzer/cli/doctor/elf_facts.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace lastref::cli::doctor {
namespace {

// A table of names of a real program is smaller; a damaged header may say anything.
constexpr std::uint64_t largest_table = std::uint64_t{64} << 20;
constexpr std::uint64_t most_entries = 4096;

class reader {
  public:
    explicit reader(std::filesystem::path const& path) : file_(path, std::ios::binary) {
        std::error_code failed;
        size_ = std::filesystem::file_size(path, failed);
        if (failed) size_ = 0;
    }

    template <class Value>
    bool read(std::uint64_t offset, Value& value) {
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        return static_cast<bool>(file_.read(reinterpret_cast<char*>(&value), sizeof value));
    }

    std::string text(std::uint64_t offset, std::uint64_t length) {
        if (offset >= size_) return {};
        std::string result(std::min({length, size_ - offset, largest_table}), '\0');
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(result.data(), static_cast<std::streamsize>(result.size()));
        result.resize(static_cast<std::size_t>(file_.gcount()));
        return result;
    }

  private:
    std::ifstream file_;
    std::uint64_t size_ = 0;
};

std::vector<Elf64_Phdr> segments(reader& file, Elf64_Ehdr const& header) {
    std::vector<Elf64_Phdr> result;
    for (unsigned i = 0; i < header.e_phnum && i < most_entries; ++i) {
        Elf64_Phdr one;
        if (!file.read(header.e_phoff + std::uint64_t{i} * header.e_phentsize, one)) break;
        result.push_back(one);
    }
    return result;
}

std::optional<std::uint64_t> offset_of(std::vector<Elf64_Phdr> const& all, std::uint64_t address) {
    for (auto const& one : all)
        if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz)
            return address - one.p_vaddr + one.p_offset;
    return std::nullopt;
}

std::vector<Elf64_Dyn> dynamic_entries(reader& file, std::vector<Elf64_Phdr> const& all) {
    std::vector<Elf64_Dyn> result;
    for (auto const& one : all) {
        if (one.p_type != PT_DYNAMIC) continue;
        for (std::uint64_t i = 0; i < std::min(one.p_filesz / sizeof(Elf64_Dyn), most_entries); ++i) {
            Elf64_Dyn entry;
            if (!file.read(one.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
            result.push_back(entry);
        }
    }
    return result;
}

std::uint64_t value_of(std::vector<Elf64_Dyn> const& entries, Elf64_Sxword tag) {
    for (auto const& entry : entries)
        if (entry.d_tag == tag) return entry.d_un.d_val;
    return 0;
}

std::string name_at(std::string const& table, std::uint64_t at) {
    return at < table.size() ? std::string(table.c_str() + at) : std::string();
}

void take_names(elf_facts& facts, std::string const& table) {
    for (std::size_t at = 0; at < table.size();) {
        std::string const name = table.c_str() + at;
        at += name.size() + 1;
        if (!name.empty()) facts.names.insert(name);
    }
}

void take_dynamic(elf_facts& facts, reader& file, std::vector<Elf64_Phdr> const& all) {
    auto const entries = dynamic_entries(file, all);
    auto const offset = offset_of(all, value_of(entries, DT_STRTAB));
    if (!offset) return;
    std::string const table = file.text(*offset, value_of(entries, DT_STRSZ));
    for (auto const& entry : entries) {
        if (entry.d_tag == DT_NEEDED) facts.needed.push_back(name_at(table, entry.d_un.d_val));
        if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) facts.search_path = name_at(table, entry.d_un.d_val);
    }
    take_names(facts, table);
}

// "2.31" in a way that sorts: 2 * 1000 + 31.
int rank(std::string const& version) {
    auto const dot = version.find('.');
    return dot == std::string::npos ? 0 : std::atoi(version.c_str()) * 1000 + std::atoi(version.c_str() + dot + 1);
}

}  // namespace

bool elf_facts::needs(std::string const& prefix) const {
    return std::any_of(needed.begin(), needed.end(), [&](auto const& name) { return name.starts_with(prefix); });
}

std::string elf_facts::newest_libc() const {
    constexpr std::string_view prefix = "GLIBC_";
    std::string newest;
    for (auto const& name : names) {
        if (!name.starts_with(prefix)) continue;
        std::string const version = name.substr(prefix.size());
        if (rank(version) > rank(newest)) newest = version;
    }
    return newest;
}

std::optional<elf_facts> read_elf(std::filesystem::path const& path) {
    reader file(path);
    std::array<unsigned char, EI_NIDENT> ident{};
    if (!file.read(0, ident) || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
    elf_facts facts;
    facts.bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    Elf64_Ehdr header{};
    if (!file.read(0, header)) return facts;
    facts.machine = header.e_machine;  // at the same place in both classes
    if (facts.bits != 64) return facts;
    auto const all = segments(file, header);
    for (auto const& one : all)
        if (one.p_type == PT_INTERP)
            facts.loader = name_at(file.text(one.p_offset, std::min<std::uint64_t>(one.p_filesz, 4096)), 0);
    take_dynamic(facts, file, all);
    return facts;
}

}  // namespace lastref::cli::doctor
