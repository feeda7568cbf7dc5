// Before a trace is read.
#pragma once

#include <filesystem>

namespace lastref::cli {

// If recording was cut short (the recorder was killed, processes ran on), brings what it has left in spools into the
// trace. Does nothing with a finished trace, one that is being written, and what is no trace.
void import_left_over(std::filesystem::path const& trace);

}  // namespace lastref::cli
