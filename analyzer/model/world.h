// All recorded processes, and the one pass over their events.
#pragma once

#include "analyzer/model/process_state.h"

#include <functional>
#include <memory>
#include <vector>

namespace lastref::model {

class world {
  public:
    // `trace` must outlive the world; so must the observers, which are told in the order in which they were added.
    explicit world(store::trace const& trace);
    void add(observer& listener) { observers_.push_back(&listener); }

    // Reads every event in order. `progress` is given the share that is done, 0 to 1, now and then.
    void run(std::function<void(double)> const& progress = {});

    std::vector<std::unique_ptr<process_state>> const& processes() const { return processes_; }

  private:
    void take(store::event const& row);

    store::trace const& trace_;
    std::vector<observer*> observers_;
    std::vector<std::unique_ptr<process_state>> processes_;
    std::vector<process_state*> by_id_;
    object_id last_id_{};
};

}  // namespace lastref::model
