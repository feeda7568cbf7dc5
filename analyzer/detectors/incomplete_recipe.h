// incomplete-recipe: a free by a default-stream token under another context than the allocation's. The token means the
// stream of whatever context is current.
#pragma once

#include "analyzer/detectors/free_order.h"
#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class incomplete_recipe : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct ambient_free {
        model::object memory;
        model::origin freed;
        bool in_order = false;  // the host had waited, or something else orders it
    };
    void report(model::process_state const& process, std::uint64_t key, groups<ambient_free>::group const& g);

    groups<ambient_free> groups_;
};

}  // namespace lastref::detectors
