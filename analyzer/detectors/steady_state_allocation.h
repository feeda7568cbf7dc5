// steady-state-allocation: memory allocated from the driver after the program has warmed up. The end of warm-up is told
// by the program's ranges or by whoever asks (warm_up.h); without it nothing is reported.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class steady_state_allocation : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    void report(model::process_state const& process, std::uint64_t key, groups<model::origin>::group const& g);

    groups<model::origin> groups_;
};

}  // namespace lastref::detectors
