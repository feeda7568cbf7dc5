// late-module-load: code loaded after the program has warmed up. The end of warm-up is told by the program's
// ranges or by whoever asks (warm_up.h); without it nothing is reported.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class late_module_load : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct load {
        model::origin call;
        store::time_ns length = 0;  // of the longest
    };
    void report(model::process_state const& process, std::uint64_t key, groups<load>::group const& g);

    groups<load> groups_;
};

}  // namespace lastref::detectors
