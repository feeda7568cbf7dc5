// A program may refer weakly to cuInit and take null for "no driver here". Our exported symbols would satisfy such a
// reference in every process that we are loaded into. So where the driver is not loaded, weak references that the
// dynamic linker has bound to us are set back to null. (Objects that are loaded later are not seen here; what they call
// through us then answers that the function does not exist.)
#include "collector/preload/driver/weak.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/driver/driver.h"
#include "collector/preload/record/process.h"
#include "schema/spool.h"

namespace lastref::preload::driver {
namespace {

struct dynamic_section {
    std::uintptr_t bias = 0;
    ElfW(Sym) const* symbols = nullptr;
    char const* strings = nullptr;
    ElfW(Rela) const* relocations = nullptr;
    std::size_t relocations_size = 0;
    std::uintptr_t own_begin = 0, own_end = 0;  // of liblastref
};

// glibc turns addresses in the dynamic section into pointers where it may write to it, and leaves them where not.
template <class T>
T const* pointer(std::uintptr_t value, std::uintptr_t bias) {
    return reinterpret_cast<T const*>(value < bias ? value + bias : value);
}

dynamic_section read(dl_phdr_info const& module, ElfW(Dyn) const* entry) {
    dynamic_section found;
    found.bias = module.dlpi_addr;
    for (; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
            case DT_SYMTAB:
                found.symbols = pointer<ElfW(Sym)>(entry->d_un.d_ptr, found.bias);
                break;
            case DT_STRTAB:
                found.strings = pointer<char>(entry->d_un.d_ptr, found.bias);
                break;
            case DT_RELA:
                found.relocations = pointer<ElfW(Rela)>(entry->d_un.d_ptr, found.bias);
                break;
            case DT_RELASZ:
                found.relocations_size = entry->d_un.d_val;
                break;
            default:
                break;
        }
    }
    return found;
}

// The place may lie in memory that became read-only after relocation.
void set_to_null(std::uintptr_t* place) {
    auto const begin = reinterpret_cast<std::uintptr_t>(place) & ~(spool::page - 1);
    bool const writable_before = mprotect(reinterpret_cast<void*>(begin), spool::page, PROT_READ | PROT_WRITE) == 0;
    if (!writable_before) {
        process::count(spool::loss::weak_references);
        return;
    }
    *place = 0;
}

void restore(dynamic_section const& module, ElfW(Rela) const& relocation) {
    auto const type = ELF64_R_TYPE(relocation.r_info);
    if (type != R_X86_64_GLOB_DAT && type != R_X86_64_64) return;
    ElfW(Sym) const& symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
    if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF) return;
    char const* const name = module.strings + symbol.st_name;
    if (name[0] != 'c' || name[1] != 'u' || !hooked_name(name)) return;
    auto* const place = reinterpret_cast<std::uintptr_t*>(module.bias + relocation.r_offset);
    if (*place >= module.own_begin && *place < module.own_end) set_to_null(place);
}

struct own_range {
    std::uintptr_t begin, end;
};

int visit(dl_phdr_info* module, std::size_t, void* argument) {
    ElfW(Dyn) const* dynamic = nullptr;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        if (module->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = reinterpret_cast<ElfW(Dyn) const*>(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr);
    }
    if (dynamic == nullptr) return 0;
    dynamic_section section = read(*module, dynamic);
    auto const& own = *static_cast<own_range const*>(argument);
    section.own_begin = own.begin;
    section.own_end = own.end;
    if (section.symbols == nullptr || section.strings == nullptr || section.relocations == nullptr) return 0;
    for (std::size_t i = 0; i < section.relocations_size / sizeof(ElfW(Rela)); ++i)
        restore(section, section.relocations[i]);
    return 0;
}

int find_own(dl_phdr_info* module, std::size_t, void* argument) {
    auto& own = *static_cast<own_range*>(argument);
    auto const here = reinterpret_cast<std::uintptr_t>(&find_own);
    std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        auto const& segment = module->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        begin = module->dlpi_addr + segment.p_vaddr < begin ? module->dlpi_addr + segment.p_vaddr : begin;
        std::uintptr_t const last = module->dlpi_addr + segment.p_vaddr + segment.p_memsz;
        end = last > end ? last : end;
    }
    if (here < begin || here >= end) return 0;
    own = {begin, end};
    return 1;
}

}  // namespace

void restore_weak_references() {
    if (next_dlsym(RTLD_NEXT, "cuInit") != nullptr) return;  // the driver is there: the reference means our wrapper
    own_range own{};
    if (dl_iterate_phdr(find_own, &own) != 1) return;
    dl_iterate_phdr(visit, &own);
    if (dlerror != nullptr) dlerror();
}

}  // namespace lastref::preload::driver
