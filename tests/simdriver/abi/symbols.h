// Every exported symbol of a driver as data: what cuGetProcAddress searches and what simdriver-list prints.
#pragma once

#include <array>
#include <cstddef>

namespace lastref::simdriver {

enum class symbol_id : unsigned {
#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) symbol,
#include "every_abi.h"
    count
};

inline constexpr std::size_t symbol_count = static_cast<std::size_t>(symbol_id::count);

enum class stream_zero : unsigned char { none, legacy, per_thread };

struct symbol_info {
    char const* name;    // without version and stream suffix
    char const* symbol;  // as exported
    stream_zero streams;
};

inline constexpr std::array<symbol_info, symbol_count> symbol_table{{
#define SIMDRIVER_ABI(name_, symbol_, streams_, parameters, arguments) {#name_, #symbol_, stream_zero::streams_},
#include "every_abi.h"
}};

constexpr symbol_info const& info(symbol_id id) {
    return symbol_table[static_cast<std::size_t>(id)];
}

// The CUDA version (1000 * major + 10 * minor) from which a plain symbol can be had; 0 for a stream variant, which
// counts from its plain symbol.
constexpr int since(symbol_id id) {
    switch (id) {
#define SIMDRIVER_SINCE(symbol, version) \
    case symbol_id::symbol:              \
        return version;
#include "since.def"
#undef SIMDRIVER_SINCE
        default:
            return 0;
    }
}

}  // namespace lastref::simdriver
