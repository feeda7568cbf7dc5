// The import tables of loaded modules: which of them import functions of given names, and what their calls go through.
// Only reads and writes memory: no lock of the dynamic linker's is taken here.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace lastref::preload::cpython {

// A loaded module as its dynamic section describes it.
class loaded_module {
  public:
    explicit loaded_module(dl_phdr_info const& info);

    // False for a module without what is read here, such as a static program.
    bool readable() const { return symbols_ != nullptr && strings_ != nullptr; }

    // Tells modules apart whose places in memory are the same, as far as they are other files.
    std::uint64_t identity() const;
    bool contains(std::uintptr_t address) const { return all_.contains(address); }

    // The address of a symbol that the module defines; 0 where it defines none of that name.
    std::uintptr_t defined(char const* name) const;

    // Calls `each(name, place)` for every word through which the module calls, or takes the address of, a function of
    // another module whose name begins with "Py_". (The symbols themselves cannot be counted without a hash table that
    // programs need not have. Relocations of one symbol stand together.)
    template <class Each>
    void for_imports(Each&& each) const {
        for (auto const& part : relocations_) {
            std::uint32_t latest = 0;
            char const* name = nullptr;
            for (std::size_t i = 0; i < part.count; ++i) {
                auto const number = static_cast<std::uint32_t>(ELF64_R_SYM(part.first[i].r_info));
                if (number != latest) name = python_name(number);
                latest = number;
                if (name != nullptr && is_address(part.first[i]))
                    each(name, reinterpret_cast<std::uintptr_t*>(bias_ + part.first[i].r_offset));
            }
        }
    }

    // Puts `wanted` where `found` stands. False where it stands there no more or the memory cannot be written. Must not
    // run beside the dynamic linker's own relocation of the module, which ends with taking the right to write away.
    bool exchange(std::uintptr_t* place, std::uintptr_t found, std::uintptr_t wanted) const;

  private:
    struct table {
        ElfW(Rela) const* first = nullptr;
        std::size_t count = 0;
    };
    char const* python_name(std::uint32_t symbol) const {
        if (symbols_[symbol].st_shndx != SHN_UNDEF) return nullptr;
        char const* const name = strings_ + symbols_[symbol].st_name;
        return name[0] == 'P' && name[1] == 'y' && name[2] == '_' ? name : nullptr;
    }
    static bool is_address(ElfW(Rela) const& relocation);
    void read(ElfW(Dyn) const* entry);
    void measure(dl_phdr_info const& info);

    std::uintptr_t bias_ = 0;
    struct span {
        std::uintptr_t begin = 0, end = 0;
        bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
        void cover(span other);
    };
    span all_;        // of its mappings
    span writable_;   // from the first that may be written to the last
    span protected_;  // read-only after relocation, whole pages
    ElfW(Dyn) const* dynamic_ = nullptr;
    ElfW(Sym) const* symbols_ = nullptr;
    char const* strings_ = nullptr;
    std::uint32_t const* gnu_hash_ = nullptr;
    table relocations_[2];  // of calls, of data
};

}  // namespace lastref::preload::cpython
