// graph-allocation-leak: memory that a launch allocated by a graph's allocation node and that nothing freed: no free
// node, no later free, and AUTO_FREE frees at the next launch only.
#pragma once

#include "analyzer/detectors/captured_calls.h"
#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class graph_allocation_leak : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_owner_copied(model::process_state const& process, model::object const& from, model::object const& to,
                         model::event const& e) override;
    void on_owner_gone(model::process_state const& process, model::object const& owner, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct node {
        store::handle pointer = 0;
        std::uint64_t bytes = 0;
        bool frees = false;
        model::origin made;
    };
    struct outstanding {
        store::process_id process;
        store::handle pointer = 0;
        std::uint64_t bytes = 0;
        model::object_id exec;
        model::origin allocated;  // the node
        model::origin launched;
        model::origin destroyed;  // the executable graph, where it was
        bool auto_free = false;
    };
    void added(model::event const& e);
    void captured(model::event const& e);
    void launched(model::event const& e);
    void report(model::process_state const& process, std::uint64_t key, groups<outstanding>::group const& g);

    captured_calls<node> captures_;
    std::unordered_map<model::object_id, std::vector<node>> owners_;  // graphs and executable graphs
    std::unordered_map<model::object_id, bool> auto_free_;
    std::map<std::pair<store::process_id, store::handle>, outstanding> live_;
    groups<outstanding> groups_;
};

}  // namespace lastref::detectors
