// handle-leak: graphs, streams, events, contexts, modules, libraries and pools that were never destroyed, by place. How
// grave follows from the history of the place: see docs/rules/handle-leak.md.
#pragma once

#include "analyzer/detectors/groups.h"
#include "analyzer/detectors/growth.h"

namespace lastref::detectors {

class handle_leak : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    using place = std::tuple<store::process_id, store::stack_id, model::object_kind>;

    population& of(model::object const& o) { return places_[{o.process, o.created.stack, o.kind}]; }
    void look(model::object const& o);
    void report(model::process_state const& process, std::uint64_t key, groups<model::object>::group const& g);
    bool judge(model::process_state const& process, finding& out, model::object const& first,
               population const& h) const;

    std::map<place, population> places_;
    groups<model::object> groups_;
};

}  // namespace lastref::detectors
