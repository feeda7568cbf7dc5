// What the trace's tables `kind` and `api` say, made from the table of hooks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/drain/sqlite.h"

namespace lastref::drain {

// A capture of driver_api.def as a person would write it: "out(dptr)" is "dptr", "FIELD(p, m)" is "p.m",
// "ok ? x : 0" is "x".
std::string readable_capture(std::string_view expression);

// Row ids begin at 1: the numbers that spool records carry, plus one.
constexpr std::int64_t api_row(std::uint16_t number) {
    return number + std::int64_t{1};
}
constexpr std::uint16_t api_number(std::int64_t row) {
    return static_cast<std::uint16_t>(row - 1);
}

// Fills both tables of a new trace.
void write_api_rows(database& db);

}  // namespace lastref::drain
