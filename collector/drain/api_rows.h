// What the trace's tables `kind` and `api` say, made from the table of hooks.
#pragma once

#include <string>
#include <string_view>

#include "collector/drain/sqlite.h"
#include "collector/preload/hooks/api_table.h"

namespace lastref::drain {

// A capture of driver_api.def as a person would write it: "out(dptr)" is "dptr", "FIELD(p, m)" is "p.m",
// "ok ? x : 0" is "x".
std::string readable_capture(std::string_view expression);

// Fills both tables of a new trace. Row ids count from 1, as SQLite's do.
void write_api_rows(database& db);

// The row in table `api` of an entry point, and back.
constexpr std::int64_t api_row(hooks::abi id) {
    return static_cast<std::int64_t>(id) + 1;
}
constexpr hooks::abi abi_of(std::int64_t row) {
    return static_cast<hooks::abi>(row - 1);
}

}  // namespace lastref::drain
