// graph-exec-growth: executable graphs of one place that only grow in number. A cache that has reached its plateau is
// none.
#pragma once

#include "analyzer/detectors/groups.h"
#include "analyzer/detectors/growth.h"

namespace lastref::detectors {

class graph_exec_growth : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    using place = std::pair<store::process_id, store::stack_id>;

    void report(model::process_state const& process, std::uint64_t key, population const& h, model::object const& first,
                std::vector<model::object> const& live);

    std::map<place, population> places_;
};

}  // namespace lastref::detectors
