// ptds-cross-thread-free: stream-ordered memory that was allocated or used on one thread's per-thread default stream
// and freed on another thread's. The order between the two streams is not looked at, only whether the host had waited
// in between; so the rule says "possible" at most.
#pragma once

#include "analyzer/detectors/detector.h"

#include <map>
#include <unordered_map>

namespace lastref::detectors {

class ptds_cross_thread_free : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct group {
        model::object first;
        model::origin last_use;  // of the first, on the other thread's stream; its allocation where no use was seen
        model::origin freed;
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        store::time_ns last = 0;
        std::vector<model::object> some;
    };
    using key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

    void used(model::object const* memory, model::event const& e);
    void report(model::process_state const& process, group const& g);

    std::unordered_map<model::object_id, model::origin> uses_;  // latest use on a per-thread default stream
    std::map<store::process_id, std::map<key, group>> groups_;
};

}  // namespace lastref::detectors
