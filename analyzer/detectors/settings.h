// What an analysis is asked to judge by, beside the trace.
#pragma once

#include "analyzer/store/rows.h"

#include <optional>
#include <string>
#include <vector>

namespace lastref::detectors {

struct settings {
    // From the first driver call of a process on: what comes later is the steady state, in which memory should not be
    // allocated from the driver and no code be loaded.
    std::optional<store::time_ns> warm_up;
    // The same by ranges of the program (warm_up.h). Where neither is asked for, ranges called "warm-up" say it.
    std::vector<std::string> warm_up_ranges = {};
};

}  // namespace lastref::detectors
