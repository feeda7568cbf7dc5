// user-object-over-release: more references of a user object released than were held, by the program or by a graph.
// The driver reports success.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class user_object_over_release : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct excess {
        model::object object;
        model::origin release;
        model::origin moved;  // the call that moved a reference into a graph, where there was one
        std::int64_t missing = 0;
        bool by_graph = false;
        bool destroyed = false;  // the destructor ran
    };
    void confirm(model::process_state const& process, excess const& e);
    void report(model::process_state const& process, std::uint64_t key, groups<excess>::group const& g);

    std::unordered_map<model::object_id, excess> open_;
    std::unordered_map<model::object_id, model::origin> moved_;
    std::map<std::uint64_t, std::vector<model::object_id>> ids_;
    groups<excess> groups_;
};

}  // namespace lastref::detectors
