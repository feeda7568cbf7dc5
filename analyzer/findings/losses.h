// What a trace lacks, and whether that can hide a finding.
#pragma once

#include "analyzer/store/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lastref::findings {

struct loss_counter {
    std::string name;
    std::string text;
    std::int64_t count = 0;
    bool hides = true;  // calls or callbacks may be missing; else only details of what is there
};

// Every loss of schema/loss.def in its order, then those that only the trace names; zero where nothing was lost.
std::vector<loss_counter> losses_of(store::trace const& trace);

// Reasons why "nothing found" would not mean "nothing there", a sentence each; empty for a complete trace.
std::vector<std::string> reasons_incomplete(store::trace const& trace, std::vector<loss_counter> const& losses,
                                            std::vector<store::process_id> const& used_driver);

}  // namespace lastref::findings
