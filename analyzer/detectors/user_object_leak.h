// user-object-leak: references of a user object that are left at the end, by holder. "Definite": the program itself
// holds references that it never released. "Reachable": only graphs or executable graphs hold it, and destroying them
// would have let it go.
#pragma once

#include "analyzer/detectors/detector.h"

#include <map>

namespace lastref::detectors {

class user_object_leak : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    enum class holder_kind : std::uint8_t { caller, graph, child_graph, graph_exec, launch };
    struct holder {
        holder_kind kind = holder_kind::caller;
        std::int64_t references = 0;
        model::object what;  // graph or executable graph
        model::origin
            since;  // caller: the latest retain or creation; launch: the call that destroyed the executable graph
        std::vector<model::object> chain;  // from the holder outwards: child graph, its graph
    };
    struct leak {
        model::object object;
        std::vector<holder> holders;
        bool due = false;  // no reference is left, but the destructor had not run
    };
    struct group {
        leak first;
        std::uint64_t count = 0;
        std::vector<model::object> some;
        std::vector<model::object_id> held_by;  // graphs and executable graphs, outermost
    };

    leak examine(model::process_state const& process, model::object const& object,
                 ledger::account const& account) const;
    holder holder_for(model::process_state const& process, ledger::holding const& held) const;
    std::uint64_t key_of(leak const& l) const;
    bool told_with_holders(group const& g);
    void report(model::process_state const& process, group& g);
    void judge(model::process_state const& process, finding& out, leak const& l) const;
    void describe_holders(model::process_state const& process, finding& out, leak const& l) const;
    std::string holder_text(holder const& h) const;
    void add_consequences(finding& out, group const& g) const;

    std::unordered_map<model::object_id, model::origin>
        last_retain_;  // by the caller, where there was one after creation
};

}  // namespace lastref::detectors
