// All that an analysis found, and what it was made from: the input of every report.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/findings/losses.h"
#include "analyzer/model/pending_calls.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lastref::findings {

// How far the ledger of user-object references can be trusted, by the destructors that ran.
struct ledger_accuracy {
    std::uint64_t predicted = 0;   // destructors that were due
    std::uint64_t agreed = 0;      // of these, the ones that ran
    std::uint64_t unexpected = 0;  // destructors that ran while references were still counted
    store::event_id first_unexpected;
};

// Objects that were alive at the end of their process, made in one range (of trace.ranges()) by one call stack.
struct left_objects {
    std::size_t range = 0;
    store::stack_id stack;
    model::object_kind kind = model::object_kind::count;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

struct analysis {
    std::map<std::string, std::uint64_t> calls;      // by entry point without suffix
    std::map<std::string, std::uint64_t> callbacks;  // "callback:user_object"
    std::uint64_t events = 0;
    std::vector<store::process_id> used_driver;  // processes with events
    ledger_accuracy ledger;
    std::uint64_t unseen_releases = 0;  // objects that went by calls that were not recorded
    std::vector<loss_counter> losses;
    std::vector<std::string> incomplete;           // reasons; empty for a complete trace
    std::vector<finding> found;                    // most important first
    std::vector<left_objects> left;                // only where the trace has ranges
    std::vector<model::pending_function> pending;  // of CPython's pending calls, by process and function
    bool clean_end = true;                         // every process that used the driver ran its exit handlers
};

}  // namespace lastref::findings
