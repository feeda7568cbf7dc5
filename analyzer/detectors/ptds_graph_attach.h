// ptds-graph-attach: memory of a per-thread default stream whose payload was given to a graph, and that was freed with
// no order after its stream: what the destructor hands on is freed by another thread.
#pragma once

#include "analyzer/detectors/free_order.h"
#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class ptds_graph_attach : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct attachment {
        model::origin retained;
        model::origin user_object;
        bool by_address = false;
    };
    struct case_ {
        attachment how;
        unordered_pair pair;
    };
    void report(model::process_state const& process, std::uint64_t key, groups<case_>::group const& g);

    std::unordered_map<model::object_id, attachment> attached_;  // by memory
    groups<case_> groups_;
};

}  // namespace lastref::detectors
