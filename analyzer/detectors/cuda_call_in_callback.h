// cuda-call-in-callback: a driver call made inside a user-object destructor, a host function or a stream callback.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class cuda_call_in_callback : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct inner_call {
        model::origin call;
        model::origin callback;
        event_kind callback_kind = event_kind::count;
        std::uint64_t function = 0;  // the callback's
    };
    struct callback {
        model::origin where;
        event_kind kind = event_kind::count;
        std::uint64_t function = 0;
    };
    // Releases that were refused: what became of their objects shows at the end.
    struct stayed {
        std::uint64_t group = 0;
        model::object what;
    };
    void report(model::process_state const& process, std::uint64_t key, groups<inner_call>::group const& g);
    void add_left_behind(finding& out, std::uint64_t key, std::vector<model::object_id>& ids) const;

    groups<inner_call> groups_;
    std::unordered_map<store::thread_id, callback> latest_;  // of each of the driver's threads
    std::unordered_map<model::object_id, stayed> left_;
};

}  // namespace lastref::detectors
