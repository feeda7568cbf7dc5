// double-free: a release that the driver refused since its object was released before, or was never made.
#pragma once

#include "analyzer/detectors/groups.h"

#include <optional>

namespace lastref::detectors {

class double_free : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct second_free {
        model::origin call;
        store::handle named = 0;
        std::optional<model::past_object> before;  // none: nothing of that handle was ever seen
    };
    void report(model::process_state const& process, std::uint64_t key, groups<second_free>::group const& g);

    groups<second_free> groups_;
};

}  // namespace lastref::detectors
