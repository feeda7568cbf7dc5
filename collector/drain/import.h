// Left-over spools into a trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/drain_loop.h"

namespace lastref::drain {

struct import_result {
    bool busy = false;  // another process is writing the trace
    drain_outcome outcome;
};

// The spools that `path` names: itself, or those of a folder. Empty where there are none.
std::vector<std::filesystem::path> spools_at(std::filesystem::path const& path);

// Where a trace goes when none is named: into the current folder, under the spool's or its folder's name.
std::filesystem::path default_trace(std::filesystem::path const& path);

// Makes the trace, or goes on with it. Spools whose processes are gone are removed once they are in it; of those that
// run, what they have written so far is taken. A new trace into which nothing could be read is removed again.
// `progress` is told the number of records read from time to time. Throws trace_error.
import_result import_spools(std::filesystem::path const& path, std::filesystem::path const& trace,
                            std::function<void(std::uint64_t)> const& progress);

// For readers: if the trace says that recording has not finished but nobody is at it any more, imports what is left.
// Returns what was done; empty where there was nothing to do. Does not throw for traces that are none: who reads says
// so.
std::optional<import_result> import_rest(std::filesystem::path const& trace,
                                         std::function<void(std::uint64_t)> const& progress);

// The drain that a program with a bare LD_PRELOAD has started for itself: works until no process is left that spools
// into the folder, then removes the folder. `pid` is the program's, 0 where it is not known. Throws trace_error.
drain_outcome drain_detached(std::filesystem::path const& folder, std::filesystem::path const& trace,
                             std::uint32_t pid);

}  // namespace lastref::drain
