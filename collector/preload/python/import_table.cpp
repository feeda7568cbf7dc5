#include "collector/preload/python/import_table.h"

#include <elf.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "schema/spool.h"

namespace lastref::preload::cpython {
namespace {

constexpr std::uintptr_t page_of(std::uintptr_t address) {
    return address & ~(std::uintptr_t{spool::page} - 1);
}

// glibc turns addresses in the dynamic section into pointers where it may write to it, and leaves them where not.
template <class T>
T const* pointer(std::uintptr_t value, std::uintptr_t bias) {
    return reinterpret_cast<T const*>(value < bias ? value + bias : value);
}

std::uint32_t gnu_hash_of(char const* name) {
    std::uint32_t hash = 5381;
    for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// DT_GNU_HASH: a head, a Bloom filter, buckets, and chains of hashes for the symbols from `first` on.
struct gnu_hash {
    explicit gnu_hash(std::uint32_t const* words)
        : buckets(words[0]),
          first(words[1]),
          bloom_words(words[2]),
          bloom_shift(words[3]),
          bloom(reinterpret_cast<std::uint64_t const*>(words + 4)),
          heads(reinterpret_cast<std::uint32_t const*>(bloom + bloom_words)),
          chains(heads + buckets) {}

    bool may_have(std::uint32_t hash) const {
        if (buckets == 0 || bloom_words == 0) return false;
        std::uint64_t const bits = std::uint64_t{1} << (hash % 64) | std::uint64_t{1} << ((hash >> bloom_shift) % 64);
        return (bloom[hash / 64 % bloom_words] & bits) == bits;
    }

    std::uint32_t buckets, first, bloom_words, bloom_shift;
    std::uint64_t const* bloom;
    std::uint32_t const* heads;
    std::uint32_t const* chains;
};

}  // namespace

loaded_module::loaded_module(dl_phdr_info const& info) : bias_(info.dlpi_addr) {
    measure(info);
    if (dynamic_ != nullptr) read(dynamic_);
}

void loaded_module::span::cover(span other) {
    if (end == 0) *this = other;
    if (other.begin < begin) begin = other.begin;
    if (other.end > end) end = other.end;
}

void loaded_module::measure(dl_phdr_info const& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        auto const& header = info.dlpi_phdr[i];
        span const its{bias_ + header.p_vaddr, bias_ + header.p_vaddr + header.p_memsz};
        if (header.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<ElfW(Dyn) const*>(its.begin);
        if (header.p_type == PT_GNU_RELRO) protected_ = {page_of(its.begin), page_of(its.end)};
        if (header.p_type != PT_LOAD) continue;
        all_.cover(its);
        if ((header.p_flags & PF_W) != 0) writable_.cover(its);
    }
}

void loaded_module::read(ElfW(Dyn) const* entry) {
    std::size_t sizes[2] = {}, relative = 0;
    for (; entry->d_tag != DT_NULL; ++entry) {
        std::uintptr_t const value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
            case DT_SYMTAB:
                symbols_ = pointer<ElfW(Sym)>(value, bias_);
                break;
            case DT_STRTAB:
                strings_ = pointer<char>(value, bias_);
                break;
            case DT_GNU_HASH:
                gnu_hash_ = pointer<std::uint32_t>(value, bias_);
                break;
            case DT_JMPREL:
                relocations_[0].first = pointer<ElfW(Rela)>(value, bias_);
                break;
            case DT_PLTRELSZ:
                sizes[0] = value;
                break;
            case DT_RELA:
                relocations_[1].first = pointer<ElfW(Rela)>(value, bias_);
                break;
            case DT_RELASZ:
                sizes[1] = value;
                break;
            case DT_RELACOUNT:  // the first of them name no symbol
                relative = value;
                break;
            default:
                break;
        }
    }
    for (int i = 0; i < 2; ++i)
        if (relocations_[i].first != nullptr) relocations_[i].count = sizes[i] / sizeof(ElfW(Rela));
    if (relative <= relocations_[1].count) {
        relocations_[1].first += relocations_[1].first != nullptr ? relative : 0;
        relocations_[1].count -= relative;
    }
}

std::uint64_t loaded_module::identity() const {
    std::uint64_t hash = 0;
    for (std::uintptr_t const part :
         {bias_, all_.end, reinterpret_cast<std::uintptr_t>(dynamic_), reinterpret_cast<std::uintptr_t>(symbols_),
          reinterpret_cast<std::uintptr_t>(strings_)})
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return hash | 1;
}

std::uintptr_t loaded_module::defined(char const* name) const {
    if (gnu_hash_ == nullptr) return 0;
    gnu_hash const names(gnu_hash_);
    std::uint32_t const hash = gnu_hash_of(name);
    if (!names.may_have(hash)) return 0;
    std::uint32_t number = names.heads[hash % names.buckets];
    if (number < names.first) return 0;
    for (;; ++number) {
        std::uint32_t const link = names.chains[number - names.first];  // the lowest bit ends the chain
        ElfW(Sym) const& symbol = symbols_[number];
        if ((link | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && strcmp(strings_ + symbol.st_name, name) == 0)
            return bias_ + symbol.st_value;
        if ((link & 1) != 0) return 0;
    }
}

bool loaded_module::is_address(ElfW(Rela) const& relocation) {
    auto const type = ELF64_R_TYPE(relocation.r_info);
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && relocation.r_addend == 0);
}

bool loaded_module::exchange(std::uintptr_t* place, std::uintptr_t found, std::uintptr_t wanted) const {
    auto const address = reinterpret_cast<std::uintptr_t>(place);
    if (!writable_.contains(address)) return false;
    auto* const memory = reinterpret_cast<void*>(page_of(address));
    bool const closed = protected_.contains(page_of(address));
    if (closed && mprotect(memory, spool::page, PROT_READ | PROT_WRITE) != 0) return false;
    bool const done = __atomic_compare_exchange_n(place, &found, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (closed) mprotect(memory, spool::page, PROT_READ);
    return done;
}

}  // namespace lastref::preload::cpython
