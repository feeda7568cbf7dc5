// From a trace to findings: the one pass with everything that listens to it.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/store/trace.h"

#include <functional>

namespace lastref::detectors {

// Throws store::error. `progress` is given the share that is done, 0 to 1.
findings::analysis analyse(store::trace const& trace, std::function<void(double)> const& progress = {});

}  // namespace lastref::detectors
