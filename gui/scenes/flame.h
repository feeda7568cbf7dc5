// Memory by the call stacks that allocated it, as trees for flame graphs: what was live at a moment, at the peak, at
// the end, or all that was ever allocated.
#pragma once

#include "gui/scenes/pass.h"
#include "gui/scenes/timeline.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lastref::symbols {
class stacks;
}

namespace lastref::gui::scenes {

struct allocation {
    time_ns from = 0;
    time_ns to = INT64_MAX;  // freed; the greatest time for what never was
    std::uint64_t bytes = 0;
    store::stack_id stack;
    model::object_kind kind = model::object_kind::count;
};
static_assert(sizeof(allocation) == 32);

// All allocations of a trace, in the order in which they were made; immutable.
class allocation_history {
  public:
    std::vector<allocation> const& allocations() const { return allocations_; }
    time_ns begin() const { return begin_; }
    time_ns end() const { return end_; }
    time_ns peak_at() const { return peak_at_; }  // the first moment with the most bytes on the device
    std::uint64_t peak_bytes() const { return peak_bytes_; }

  private:
    friend class allocation_builder;
    friend struct kept_access;
    std::vector<allocation> allocations_;
    time_ns begin_ = INT64_MAX, end_ = 0;
    time_ns peak_at_ = 0;
    std::uint64_t peak_bytes_ = 0;
};

class allocation_builder : public model::observer {
  public:
    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    std::shared_ptr<allocation_history const> take();  // after the pass; once

  private:
    std::shared_ptr<allocation_history> made_ = std::make_shared<allocation_history>();
    std::unordered_map<model::object_id, std::size_t> live_;
    std::uint64_t bytes_ = 0;  // live on the device
};

std::shared_ptr<allocation_history const> build_allocation_history(store::trace const& trace, watch const& tell = {});

// --- trees ---------------------------------------------------------------------------------------------------------

enum class flame_moment : std::uint8_t { at, peak, end, ever };
enum class flame_order : std::uint8_t { callers_first, callees_first };  // top-down, bottom-up
enum class flame_side : std::uint8_t { device, host, both };

struct flame_question {
    flame_moment moment = flame_moment::peak;
    time_ns at = 0;  // for flame_moment::at
    flame_order order = flame_order::callers_first;
    flame_side side = flame_side::device;
};

// Function names of a stack, innermost first. May open files: for background jobs.
using stack_namer = std::function<std::vector<std::string>(store::stack_id)>;
stack_namer namer_of(symbols::stacks& stacks, store::trace const& trace);

struct flame_node {
    std::uint32_t name = 0;  // index
    std::uint32_t parent = 0;
    std::uint32_t first_child = 0;  // children stand together, greatest first
    std::uint32_t children = 0;
    std::uint32_t depth = 0;
    std::uint64_t bytes = 0;  // of all allocations below
    std::uint64_t count = 0;
};

struct flame {
    flame_question asked;
    time_ns at = 0;  // the moment that was asked for; the end for `ever`
    std::vector<std::string> names;
    std::vector<flame_node> nodes;  // by depth; the first is the root, which stands for all of them
    std::uint32_t depth = 0;        // of the deepest

    std::string const& name_of(std::uint32_t node) const { return names[nodes[node].name]; }
};

// Each stack is named once. Throws `cancelled`.
std::shared_ptr<flame const> build_flame(allocation_history const& history, flame_question const& asked,
                                         stack_namer const& names, watch const& tell = {});

}  // namespace lastref::gui::scenes
