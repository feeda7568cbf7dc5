#include "tests/simdriver/abi/lookup.h"

#include "tests/simdriver/abi/exports.h"

namespace lastref::simdriver {
namespace {

constexpr cuuint64_t known_flags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

symbol_id id_of(std::size_t index) {
    return static_cast<symbol_id>(index);
}

// Of all ABIs of the name, the newest that the version knows.
std::size_t newest_plain(std::string_view name, int version, bool& name_known) {
    std::size_t best = symbol_count;
    for (std::size_t index = 0; index < symbol_count; ++index) {
        int const from = since(id_of(index));
        if (name != symbol_table[index].name || from == 0) continue;
        name_known = true;
        if (from <= version && (best == symbol_count || from >= since(id_of(best)))) best = index;
    }
    return best;
}

// Measured: a name of which some ABI has a per-thread variant is not to be had with the per-thread flag before these
// were there at all.
constexpr int first_per_thread_version = 7000;

bool has_per_thread_variant(std::string_view name) {
    for (auto const& each : symbol_table)
        if (name == each.name && each.streams == stream_zero::per_thread) return true;
    return false;
}

// The `_ptsz` or `_ptds` variant beside a plain symbol; the plain one where there is none.
std::size_t per_thread_of(std::size_t plain) {
    std::string_view const symbol = symbol_table[plain].symbol;
    for (std::size_t index = 0; index < symbol_count; ++index) {
        std::string_view const other = symbol_table[index].symbol;
        if (symbol_table[index].streams == stream_zero::per_thread && other.size() == symbol.size() + 5 &&
            other.starts_with(symbol))
            return index;
    }
    return plain;
}

}  // namespace

lookup look_up(std::string_view name, int version, cuuint64_t flags) {
    lookup found;
    std::size_t index = newest_plain(name, version, found.name_known);
    if (index == symbol_count) return found;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        if (version < first_per_thread_version && has_per_thread_variant(name)) return found;
        index = per_thread_of(index);
    }
    found.address = exported_address(id_of(index));
    return found;
}

bool known_lookup_flags(cuuint64_t flags) {
    return !(flags & ~known_flags);
}

}  // namespace lastref::simdriver
