// pinned-free-in-flight: pinned or registered host memory freed while copies on it may still run.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class pinned_free_in_flight : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct in_flight {
        model::object memory;
        timeline::use use;
        model::origin freed;
    };
    void report(model::process_state const& process, std::uint64_t key, groups<in_flight>::group const& g);

    groups<in_flight> groups_;
};

}  // namespace lastref::detectors
