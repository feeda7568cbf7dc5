#include "collector/preload/python/interpreter.h"

#include <elf.h>

#include <cstring>

namespace lastref::python {
namespace {

struct place {
    std::uintptr_t address = 0;
    std::size_t size = 0;
};

// Symbols that an object defines, through its GNU hash table. dlsym would take the loader's lock, and another thread
// may hold that and wait for this one.
class defined_symbols {
  public:
    explicit defined_symbols(link_map const& object) : bias_(object.l_addr) {
        for (auto const* entry = object.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_GNU_HASH) table_ = pointer<std::uint32_t const*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_SYMTAB) symbols_ = pointer<ElfW(Sym) const*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names_ = pointer<char const*>(entry->d_un.d_ptr);
        }
    }

    place find(char const* name) const {
        if (table_ == nullptr || symbols_ == nullptr || names_ == nullptr || table_[0] == 0) return {};
        std::uint32_t const hash = hash_of(name);
        std::uint32_t const buckets = table_[0], first = table_[1], words = table_[2], shift = table_[3];
        auto const* const bloom = reinterpret_cast<ElfW(Addr) const*>(table_ + 4);
        ElfW(Addr) const word = bloom[hash / word_bits % words];
        if ((word >> hash % word_bits & word >> (hash >> shift) % word_bits & 1) == 0) return {};
        auto const* const bucket = reinterpret_cast<std::uint32_t const*>(bloom + words);
        std::uint32_t const* const chain = bucket + buckets;
        for (std::uint32_t at = bucket[hash % buckets]; at >= first; ++at) {
            std::uint32_t const found = chain[at - first];
            if ((found | 1) == (hash | 1) && is(at, name)) return place_of(at);
            if ((found & 1) != 0) break;
        }
        return {};
    }

  private:
    static constexpr std::uint32_t word_bits = sizeof(ElfW(Addr)) * 8;

    static std::uint32_t hash_of(char const* name) {
        std::uint32_t hash = 5381;
        for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
        return hash;
    }
    // The loader moves these addresses in place, except where it may not write the section.
    template <class Pointer>
    Pointer pointer(ElfW(Addr) value) const {
        return reinterpret_cast<Pointer>(value < bias_ ? value + bias_ : value);
    }
    bool is(std::uint32_t index, char const* name) const {
        return symbols_[index].st_shndx != SHN_UNDEF && strcmp(names_ + symbols_[index].st_name, name) == 0;
    }
    place place_of(std::uint32_t index) const { return {bias_ + symbols_[index].st_value, symbols_[index].st_size}; }

    ElfW(Addr) bias_;
    std::uint32_t const* table_ = nullptr;
    ElfW(Sym) const* symbols_ = nullptr;
    char const* names_ = nullptr;
};

// 3.10 has no Py_Version; it is the first with Py_IsNone, and the last without that.
std::uint32_t version_of(defined_symbols const& symbols) {
    if (std::uintptr_t const at = symbols.find("Py_Version").address; at != 0)
        return static_cast<std::uint32_t>(*reinterpret_cast<unsigned long const*>(at));
    return symbols.find("Py_IsNone").address != 0 ? 0x030a0000 : 0;
}

template <class Function>
bool resolve(defined_symbols const& symbols, char const* name, Function& into) {
    std::uintptr_t const address = symbols.find(name).address;
    if (address != 0) into = reinterpret_cast<Function>(address);
    return address != 0;
}

}  // namespace

finding find_interpreter(link_map const& object, interpreter& out) {
    defined_symbols const symbols(object);
    if (!resolve(symbols, "PyGILState_GetThisThreadState", out.own_state)) return finding::none;
    out.version = version_of(symbols);
    place const runtime = symbols.find("_PyRuntime");
    bool const describes = runtime.address != 0 && runtime.size >= runtime_bytes;
    if (!layout_of(out.version, describes ? reinterpret_cast<std::uint64_t const*>(runtime.address) : nullptr,
                   out.where))
        return finding::unknown;
    place const evaluator = symbols.find("_PyEval_EvalFrameDefault");
    out.evaluator_begin = evaluator.address;
    out.evaluator_end = evaluator.address + evaluator.size;
    bool const all =
        (resolve(symbols, "PyThreadState_GetUnchecked", out.attached_state) ||
         resolve(symbols, "_PyThreadState_UncheckedGet", out.attached_state)) &&
        resolve(symbols, "Py_IsInitialized", out.is_initialized) && resolve(symbols, "PyCode_Type", out.code_type) &&
        resolve(symbols, "PyUnicode_Type", out.text_type) && resolve(symbols, "PyBytes_Type", out.bytes_type);
    return all ? finding::found : finding::unknown;
}

}  // namespace lastref::python
