// The latest visible uses of each live piece of memory, by stream: its allocation on a stream, copies, sets,
// prefetches. What kernels and graphs do with memory is not in a trace.
#pragma once

#include "analyzer/timeline/order.h"

#include <unordered_map>
#include <vector>

namespace lastref::timeline {

struct use {
    point work;
    model::origin call;
    bool allocation = false;
};

class uses : public model::observer {
  public:
    // `order` must be told of each event before.
    explicit uses(timeline::order const& order) : order_(order) {}

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    // In the order of the calls; uses that the host has waited for may be left out. Empty for memory that has none.
    std::vector<use> const& of(model::object_id memory) const;

  private:
    static constexpr std::size_t most_streams = 16;  // of one piece of memory; more than those are left out

    void add(model::object const* memory, model::event const& e, bool allocation);

    timeline::order const& order_;
    std::unordered_map<model::object_id, std::vector<use>> uses_;
};

}  // namespace lastref::timeline
