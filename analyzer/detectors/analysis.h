// From a trace to findings: the one pass with everything that listens to it.
#pragma once

#include "analyzer/detectors/detector.h"
#include "analyzer/detectors/settings.h"
#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/store/trace.h"

#include <functional>
#include <memory>
#include <vector>

namespace lastref::detectors {

// An observer of the caller's own for the same pass: it is told after everything else and may ask what the file names,
// until `after` has returned, which is called when the pass is over.
struct more_observer {
    std::unique_ptr<model::observer> told;
    std::function<void()> after;  // may be empty
};
using more_observers = std::function<std::vector<more_observer>(case_file const&)>;

// Throws store::error. `progress` is given the share that is done, 0 to 1. `names` tell the CUDA runtime, where it is
// linked statically, from the program's own code; without them its clean-up at exit is doubted instead.
findings::analysis analyse(store::trace const& trace, std::function<void(double)> const& progress = {},
                           findings::stacks* names = nullptr, settings const& asked = {},
                           more_observers const& more = {});

}  // namespace lastref::detectors
