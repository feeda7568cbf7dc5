// Keeping symbols in a trace, as `record --symbols=now` and `symbolize` do it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lastref::cli {

struct symbolized {
    std::uint64_t named = 0, places = 0;     // places in code, and those that have a name now
    std::vector<std::string> without_files;  // missing, or rebuilt since
};

// Looks up all code of the trace in this machine's files, and writes its names into the trace. Throws
// drain::trace_error.
symbolized keep_symbols(std::filesystem::path const& trace);

// For `record --symbols=off`: readers will look for none.
void want_no_symbols(std::filesystem::path const& trace);

std::string sentence_of(symbolized const& what);

}  // namespace lastref::cli
