// slow-callback: a destructor, host function or stream callback that holds up the driver's thread.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class slow_callback : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    // Long enough that no busy machine explains it, short enough that a program would notice.
    static constexpr store::time_ns slow = 50'000'000;

    struct callback {
        model::origin call;
        event_kind kind = event_kind::count;
        store::time_ns length = 0;
        bool returned = true;
        store::handle function = 0;
    };
    void report(model::process_state const& process, std::uint64_t key, groups<callback>::group const& g);

    groups<callback> groups_;
};

}  // namespace lastref::detectors
