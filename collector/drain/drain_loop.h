// Draining for as long as there is something to drain: what `record`, `drain` and `import` have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/folder_drain.h"
#include "collector/drain/trace_file.h"

namespace lastref::drain {

struct drain_outcome {
    drain_counts counts;
    std::vector<unreadable_spool> unreadable;
    std::string error;  // why the trace could not be written to the end; empty where it could
};

// What the loop asks between two passes.
class drain_control {
  public:
    virtual ~drain_control() = default;
    // Sleeps for so long, or shorter when something has happened.
    virtual void sleep(std::chrono::milliseconds most) = 0;
    // May more processes still appear, apart from those that have a spool?
    virtual bool more_may_come() = 0;
    // Is the time over for which processes that run on are waited for?
    virtual bool out_of_patience() = 0;
    // Results of processes that the recorder started itself; called before every pass.
    virtual void report_exits(folder_drain&) {}
    // Called after every pass.
    virtual void progressed(std::uint64_t /*records*/) {}
};

// Drains `folder` (and `spools` that lie elsewhere) into `trace` until no process is left that may write, or patience
// ends. Marks the trace complete or unfinished, and makes it a single file. A full disk is waited out as long as there
// is patience; what could not be written then stays in the spools.
drain_outcome drain_all(std::filesystem::path const& folder, std::vector<std::filesystem::path> const& spools,
                        trace_file& trace, drain_control& control, drain_limits const& limits = {});

}  // namespace lastref::drain
