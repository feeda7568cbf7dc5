// first-error: the first call that returned an error after which a context answers every call the same. What was
// refused afterwards follows from it.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class first_error : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct broken {
        model::origin call;
        model::origin launch;     // the latest kernel launch before, and none where there was none
        std::uint64_t later = 0;  // calls that failed alike afterwards
        std::map<model::object_id, model::object> left;  // not released on that account
    };
    void report(model::process_state const& process, broken const& b);

    std::map<store::process_id, broken> broken_;
    std::unordered_map<store::process_id, model::origin> launches_;
};

}  // namespace lastref::detectors
