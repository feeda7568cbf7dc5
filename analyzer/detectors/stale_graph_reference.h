// stale-graph-reference: a graph was launched that names memory or a payload that is gone. Known are the copies and
// sets of captured streams, and the payloads of host nodes; what kernels are given is not recorded.
#pragma once

#include "analyzer/detectors/captured_calls.h"
#include "analyzer/detectors/groups.h"

#include <functional>

namespace lastref::detectors {

class stale_graph_reference : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_owner_copied(model::process_state const& process, model::object const& from, model::object const& to,
                         model::event const& e) override;
    void on_owner_gone(model::process_state const& process, model::object const& owner, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    // Memory by its object's number, a payload by its address.
    struct target_key {
        bool payload = false;
        std::uint64_t value = 0;
        friend auto operator<=>(target_key const&, target_key const&) = default;
    };
    struct target {
        std::uint64_t names = 0;  // references to it in graphs and executable graphs
        model::object what;       // memory, or the user object that had the payload
        model::origin gone;
        bool is_gone = false;
    };
    struct reference {
        target_key to;
        store::handle node = 0;
        model::origin named;
    };
    struct stale {
        model::object what;
        model::origin named;
        model::origin gone;
        model::origin launched;
        bool payload = false;
    };
    using references = std::vector<reference>;

    void name(references& in, reference made, model::object const* what);
    void drop(references& in, std::function<bool(reference const&)> const& which);
    void release(target_key key);
    void captured(model::process_state const& process, model::event const& e);
    void host_node(model::event const& e);
    void edited(model::event const& e);
    void launched(model::process_state const& process, model::event const& e);
    void gone(target_key key, model::object const& what, model::origin const& by);
    void report(model::process_state const& process, std::uint64_t key, groups<stale>::group const& g);

    captured_calls<std::pair<reference, model::object>> captures_;
    std::map<target_key, target> targets_;
    std::unordered_map<model::object_id, references> owners_;            // graphs and executable graphs
    std::unordered_map<store::handle, model::object_id> owner_of_node_;  // host nodes
    std::uint64_t gone_ = 0;                                             // targets that are gone
    groups<stale> groups_;
};

}  // namespace lastref::detectors
