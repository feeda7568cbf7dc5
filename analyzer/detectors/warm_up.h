// When a process has warmed up: from then on memory should not be allocated from the driver, and no code be loaded.
#pragma once

#include "analyzer/detectors/settings.h"
#include "analyzer/model/process_state.h"
#include "analyzer/store/trace.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace lastref::detectors {

// By ranges of the program, of NVTX or its tests: warm-up is over when the first range of each name that the process
// has ended. Later ranges of these names are warm-up, too, on whichever thread. By a time: that long after the
// process's first driver call. Where both are asked for, both must be over.
class warm_up {
  public:
    warm_up(store::trace const& trace, settings const& asked);

    // The event's call began after warm-up; never where nothing says when that ends.
    bool over(model::process_state const& process, model::event const& e) const;

    // What said so, as a part of a sentence: "range \"warm-up\" had ended at 1.250 s".
    std::string reason(store::process_id process) const;

    // Names that were asked for and that no range has.
    std::vector<std::string> const& unknown() const { return unknown_; }

    struct stretch {
        store::time_ns begin = 0;
        store::time_ns end = 0;
    };
    struct of_process {
        store::time_ns end = 0;        // of the first range of each name
        std::string last = {};         // the name of the range that ended then
        std::vector<stretch> later{};  // in order of begin, apart from each other
    };

  private:
    void add_ranges(store::trace const& trace, std::vector<std::string> const& names);

    std::optional<store::time_ns> time_;
    bool by_range_ = false;
    std::unordered_map<store::process_id, of_process> processes_;
    std::vector<std::string> unknown_;
};

}  // namespace lastref::detectors
