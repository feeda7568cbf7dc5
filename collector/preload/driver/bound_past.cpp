// Libraries that call the driver past the collector: loaded with RTLD_DEEPBIND, their references are looked up in
// themselves and in what they need before they are looked up in what is preloaded. Nothing tells us when it happens, so
// at the end the slots through which loaded objects call are looked at: one that holds the address of a hooked entry
// point of the real driver has been used, or would have been.
#include "collector/preload/driver/bound_past.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/driver/driver.h"
#include "collector/preload/record/process.h"

namespace lastref::preload::driver {
namespace {

struct table {
    ElfW(Rela) const* relocations = nullptr;
    std::size_t size = 0;
};

struct module {
    std::uintptr_t bias = 0;
    ElfW(Sym) const* symbols = nullptr;
    char const* strings = nullptr;
    table plain, calls;
};

// glibc turns addresses in the dynamic section into pointers where it may write to it, and leaves them where not.
template <class T>
T const* pointer(std::uintptr_t value, std::uintptr_t bias) {
    return reinterpret_cast<T const*>(value < bias ? value + bias : value);
}

module read(std::uintptr_t bias, ElfW(Dyn) const* entry) {
    module found;
    found.bias = bias;
    for (; entry->d_tag != DT_NULL; ++entry) {
        std::uintptr_t const value = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) found.symbols = pointer<ElfW(Sym)>(value, bias);
        if (entry->d_tag == DT_STRTAB) found.strings = pointer<char>(value, bias);
        if (entry->d_tag == DT_RELA) found.plain.relocations = pointer<ElfW(Rela)>(value, bias);
        if (entry->d_tag == DT_RELASZ) found.plain.size = value;
        if (entry->d_tag == DT_JMPREL) found.calls.relocations = pointer<ElfW(Rela)>(value, bias);
        if (entry->d_tag == DT_PLTRELSZ) found.calls.size = value;
    }
    return found;
}

bool is_bound_past(module const& in, ElfW(Rela) const& relocation) {
    auto const type = ELF64_R_TYPE(relocation.r_info);
    if (type != R_X86_64_GLOB_DAT && type != R_X86_64_64 && type != R_X86_64_JUMP_SLOT) return false;
    ElfW(Sym) const& symbol = in.symbols[ELF64_R_SYM(relocation.r_info)];
    char const* const name = in.strings + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || name[0] != 'c' || name[1] != 'u') return false;
    void* const target = *reinterpret_cast<void* const*>(in.bias + relocation.r_offset);
    return wrapper_of(target) != target;
}

std::uint64_t count_in(module const& in, table const& of) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; of.relocations != nullptr && i < of.size / sizeof(ElfW(Rela)); ++i)
        count += is_bound_past(in, of.relocations[i]);
    return count;
}

int visit(dl_phdr_info* object, std::size_t, void* argument) {
    if (object->dlpi_name != nullptr && strcmp(object->dlpi_name, path()) == 0) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        auto const& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_DYNAMIC) continue;
        module const found =
            read(object->dlpi_addr, reinterpret_cast<ElfW(Dyn) const*>(object->dlpi_addr + segment.p_vaddr));
        if (found.symbols == nullptr || found.strings == nullptr) continue;
        *static_cast<std::uint64_t*>(argument) += count_in(found, found.plain) + count_in(found, found.calls);
    }
    return 0;
}

}  // namespace

void count_bound_past() {
    std::uint64_t count = 0;
    dl_iterate_phdr(visit, &count);
    if (count != 0) process::count(spool::loss::bound_past, count);
}

}  // namespace lastref::preload::driver
