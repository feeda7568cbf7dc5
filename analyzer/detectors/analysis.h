// From a trace to findings: the one pass with everything that listens to it.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/findings/losses.h"
#include "analyzer/ledger/accountant.h"
#include "analyzer/store/trace.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lastref::detectors {

struct analysis {
    std::map<std::string, std::uint64_t> calls;      // entry point without suffix
    std::map<std::string, std::uint64_t> callbacks;  // "callback:user_object"
    std::uint64_t events = 0;
    std::vector<store::process_id> used_driver;  // processes with events
    ledger::accuracy ledger;
    std::vector<findings::loss_counter> losses;
    std::vector<std::string> incomplete;   // reasons; empty for a complete trace
    std::vector<findings::finding> found;  // most important first
    bool clean_end = true;                 // every process that used the driver ran its exit handlers
};

// Throws store::error. `progress` is given the share that is done, 0 to 1.
analysis analyse(store::trace const& trace, std::function<void(double)> const& progress = {});

}  // namespace lastref::detectors
