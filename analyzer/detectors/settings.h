// What an analysis is asked to judge by, beside the trace.
#pragma once

#include "analyzer/store/rows.h"

#include <optional>

namespace lastref::detectors {

struct settings {
    // From the first driver call of a process on: what comes later is the steady state, in which memory should not be
    // allocated from the driver and no code be loaded.
    std::optional<store::time_ns> warm_up;
};

}  // namespace lastref::detectors
