// ptds-cross-thread-free: stream-ordered memory that was allocated or used on one thread's per-thread default stream
// and freed on another thread's, with no order between the two. What order is followed stands in timeline/order.h.
#pragma once

#include "analyzer/detectors/free_order.h"
#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class ptds_cross_thread_free : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    void report(model::process_state const& process, std::uint64_t key, groups<unordered_pair>::group const& g);

    groups<unordered_pair> groups_;
};

}  // namespace lastref::detectors
