// capture-interference: a stream capture that was broken, with the call that broke it, on its own thread or another.
#pragma once

#include "analyzer/detectors/groups.h"

#include <optional>

namespace lastref::detectors {

class capture_interference : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct capture {
        model::origin begin;
        std::uint64_t mode = 0;
        std::optional<model::origin> broken_by;     // the first call that was refused on its account
        std::optional<model::object> not_released;  // by that call
        model::origin ended;
    };
    void blame(model::event const& e);
    void ends(model::event const& e);
    std::vector<model::object_id> add_left_behind(finding& out, std::uint64_t key) const;
    void report(model::process_state const& process, std::uint64_t key, groups<capture>::group const& g);

    std::unordered_map<model::stream_identity, capture, model::hash_stream> open_;
    struct left_behind {
        std::uint64_t group = 0;
        model::object what;
    };
    std::map<model::object_id, left_behind> left_;  // not released by the breaking calls, and not later either
    groups<capture> groups_;
};

}  // namespace lastref::detectors
