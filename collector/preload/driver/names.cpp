// Names of driver functions: which are hooked, which are left out on purpose, and which are a gap to be counted.
#include <cstring>
#include <string_view>

#include "collector/preload/driver/driver.h"
#include "collector/preload/record/process.h"

namespace lastref::preload::driver {
namespace {

constexpr std::string_view passed_over[] = {
#define LASTREF_PASSED_OVER(name) #name,
#include "collector/preload/driver/passed_over.def"
#undef LASTREF_PASSED_OVER
};

// The families that lastref follows.
constexpr std::string_view families[] = {"cuUserObject",    "cuGraph",     "cuStream", "cuThread",  "cuMem",
                                         "cuArray",         "cuMipmapped", "cuIpc",    "cuEvent",   "cuCtx",
                                         "cuGreenCtx",      "cuLaunch",    "cuModule", "cuLibrary", "cuImport",
                                         "cuDevicePrimary", "cuMulticast"};

constexpr std::size_t symbol_count = static_cast<std::size_t>(hooks::abi::callback_user_object);

// Symbols by hash; made at compile time, so that a lookup during start-up needs no initialization.
constexpr std::uint32_t set_size = 1024;
constexpr std::uint32_t hash(std::string_view name) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (char const c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return static_cast<std::uint32_t>(value ^ (value >> 32)) % set_size;
}
struct symbol_set {
    std::uint16_t places[set_size] = {};  // ABI number + 1
    constexpr symbol_set() {
        for (std::size_t i = 0; i < symbol_count; ++i) {
            std::uint32_t place = hash(hooks::abi_table[i].symbol);
            while (places[place] != 0) place = (place + 1) % set_size;
            places[place] = static_cast<std::uint16_t>(i + 1);
        }
    }
};
constexpr symbol_set symbols;
static_assert(set_size > 2 * symbol_count);

bool starts_with(char const* name, std::string_view prefix) {
    return strncmp(name, prefix.data(), prefix.size()) == 0;
}

// Without _ptsz, _ptds and _v2, _v3 …
std::size_t base_length(char const* name) {
    std::size_t length = strlen(name);
    if (length > 5 && (strcmp(name + length - 5, "_ptsz") == 0 || strcmp(name + length - 5, "_ptds") == 0)) length -= 5;
    if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v' && name[length - 1] >= '0' &&
        name[length - 1] <= '9')
        length -= 3;
    return length;
}

}  // namespace

bool in_families(char const* name) {
    if (starts_with(name, "cuGraphics")) return false;  // resources of OpenGL and other drivers
    for (auto const family : families) {
        if (starts_with(name, family)) return true;
    }
    return false;
}

bool hooked_name(char const* name) {
    std::string_view const wanted{name, strlen(name)};
    for (std::uint32_t place = hash(wanted); symbols.places[place] != 0; place = (place + 1) % set_size) {
        auto const& symbol = hooks::abi_table[symbols.places[place] - 1u].symbol;
        if (symbol.size() == wanted.size() && memcmp(symbol.data(), wanted.data(), wanted.size()) == 0) return true;
    }
    return strcmp(name, "cuGetProcAddress") == 0 || strcmp(name, "cuGetProcAddress_v2") == 0;
}

void note_obtained(char const* name) {
    if (!in_families(name) || hooked_name(name)) return;
    std::size_t const length = base_length(name);
    for (auto const known : passed_over) {
        if (known.size() == length && memcmp(known.data(), name, length) == 0) return;
    }
    process::count_unhooked(name);
}

}  // namespace lastref::preload::driver
