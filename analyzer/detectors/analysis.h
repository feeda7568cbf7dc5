// From a trace to findings: the one pass with everything that listens to it.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/store/trace.h"

#include <functional>

namespace lastref::detectors {

// Throws store::error. `progress` is given the share that is done, 0 to 1. `names` tell the CUDA runtime, where it is
// linked statically, from the program's own code; without them its clean-up at exit is doubted instead.
findings::analysis analyse(store::trace const& trace, std::function<void(double)> const& progress = {},
                           findings::stacks* names = nullptr);

}  // namespace lastref::detectors
