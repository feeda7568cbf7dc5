// Places and texts of the ticks of an axis.
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lastref::curves {

struct time_tick {
    store::time_ns at = 0;
    std::string text;  // "1.5 s", or "+20 µs" from the axis's base
};

struct time_axis {
    std::string base;  // what "+" counts from, where ticks are too close for whole times: "12.345 s"
    store::time_ns step = 0;
    std::vector<time_tick> ticks;  // within the range
};

// At most `most` ticks at round times.
time_axis time_ticks(store::time_ns from, store::time_ns to, int most);

// A length in the greatest unit that it has at least one of: "2 ms", "1.118 s".
std::string length_text(store::time_ns length);

enum class unit : std::uint8_t { count, bytes };

struct value_tick {
    std::uint64_t at = 0;
    std::string text;  // "12,000", "1.5 MiB"
};

// From 0 on, at most `most` steps, the last one at or above `greatest`.
std::vector<value_tick> value_ticks(std::uint64_t greatest, unit of, int most);

std::string value_text(std::uint64_t value, unit of);

}  // namespace lastref::curves
