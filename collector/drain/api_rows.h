// What the trace's tables `kind` and `api` say, made from the table of hooks.
#pragma once

#include <string>
#include <string_view>

#include "collector/drain/sqlite.h"

namespace lastref::drain {

// A capture of driver_api.def as a person would write it: "out(dptr)" is "dptr", "FIELD(p, m)" is "p.m",
// "ok ? x : 0" is "x".
std::string readable_capture(std::string_view expression);

// Fills both tables of a new trace. Row ids are the numbers that spool records carry.
void write_api_rows(database& db);

}  // namespace lastref::drain
