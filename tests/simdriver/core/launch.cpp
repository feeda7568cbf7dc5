// A launch of an executable graph: one operation per node, a first one and a last one around them.
#include <algorithm>

#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/graphs.h"
#include "tests/simdriver/core/streams.h"

namespace lastref::simdriver {
namespace {

void hold_references(graph const& of, std::vector<std::shared_ptr<reference_set>>& held) {
    held.push_back(of.references);
    for (auto const& each : of.nodes)
        for (auto const& inside : graphs_inside(*each)) hold_references(*inside, held);
}

bool allocated_and_unfreed(node const& one) {
    auto const* const alloc = std::get_if<alloc_work>(&one.what);
    return alloc && alloc->memory->live;
}

// Memory that a graph frees must be there by then: allocated before, or by the graph itself.
bool frees_nothing(graph const& in) {
    return any_node(in, [&in](node const& each) {
        auto const* const free = std::get_if<free_work>(&each.what);
        return free && !free->memory->live && !any_node(in, [free](node const& other) {
                   auto const* const alloc = std::get_if<alloc_work>(&other.what);
                   return alloc && alloc->memory == free->memory;
               });
    });
}

// The driver takes a second launch while an allocation of the first is unfreed for an error; with AUTO_FREE it frees
// it.
CUresult check_memory(exec const& what) {
    bool const unfreed = any_node(*what.copy, allocated_and_unfreed);
    bool const automatic = what.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    return (unfreed && !automatic) || frees_nothing(*what.copy) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

bool back_allocations(graph const& in) {
    return !any_node(in, [](node const& each) {
        auto const* const alloc = std::get_if<alloc_work>(&each.what);
        return alloc && !alloc->memory->live && !back(alloc->memory);
    });
}

// Makes the operations of one launch, or of one round of a conditional body.
class expansion {
  public:
    expansion(graph const& of, operation_ptr begin) : begin_(std::move(begin)) {
        for (auto const& each : in_order(of)) last_of_[each.get()] = submit_node(*each);
    }

    std::vector<operation_ptr> ends() const {
        std::vector<operation_ptr> all{begin_};
        for (auto const& [each, last] : last_of_) all.push_back(last);
        return all;
    }

  private:
    operation_ptr submit_node(node const& one) {
        std::vector<operation_ptr> after{begin_};
        for (auto const& each : one.after) after.push_back(last_of_[each.from]);
        if (auto const* const child = std::get_if<child_work>(&one.what)) return submit_child(*child->child, after);
        if (auto const* const conditional = std::get_if<conditional_work>(&one.what))
            return submit_conditional(*conditional, after);
        prepared made = one.enabled ? prepare(one.what) : prepared{std::make_shared<operation>(), {}};
        if (auto const* const free = std::get_if<free_work>(&one.what)) let_go(free->memory, made.work);
        after.insert(after.end(), made.also_after.begin(), made.also_after.end());
        driver().work.submit(made.work, after);
        return made.work;
    }

    static operation_ptr submit_empty(std::vector<operation_ptr> const& after) {
        auto made = std::make_shared<operation>();
        driver().work.submit(made, after);
        return made;
    }

    static operation_ptr submit_child(graph const& child, std::vector<operation_ptr> const& after) {
        return submit_empty(expansion(child, submit_empty(after)).ends());
    }

    // Which body is to run is known only when the node is reached. No simulated kernel sets the value, so that a loop
    // would never end: it runs once.
    static operation_ptr submit_conditional(conditional_work const& what, std::vector<operation_ptr> const& after) {
        auto made = std::make_shared<operation>();
        made->continued = [what, self = std::weak_ptr(made)] {
            graph_ptr const body = chosen_body(what);
            operation_ptr const condition = self.lock();
            if (!body || !condition) return false;
            auto const end = std::make_shared<operation>();
            end->completed = [condition] { driver().work.finish(condition); };
            driver().work.submit(end, expansion(*body, submit_empty({})).ends());
            return true;
        };
        driver().work.submit(made, after);
        return made;
    }

    static graph_ptr chosen_body(conditional_work const& what) {
        unsigned const value = what.value->current;
        std::size_t index = SIZE_MAX;
        if (what.params.type == CU_GRAPH_COND_TYPE_SWITCH)
            index = value;
        else if (value)
            index = 0;
        else if (what.params.type == CU_GRAPH_COND_TYPE_IF)
            index = 1;
        return index < what.bodies.size() ? what.bodies[index] : nullptr;
    }

    operation_ptr begin_;
    std::map<node const*, operation_ptr> last_of_;
};

// Measured: a destructor that waited for a launch runs about a millisecond after the stream has synchronized.
constexpr std::chrono::microseconds release_delay{1000};

void let_go_later(std::vector<std::shared_ptr<reference_set>> held) {
    auto const later = std::make_shared<operation>();
    later->duration = release_delay;
    later->completed = [held = std::move(held)]() mutable { held.clear(); };
    driver().work.submit(later, {});
}

void set_conditionals(graph const& of) {
    for (auto const& [handle, value] : of.conditionals)
        if (value->assigned_at_launch) value->current = value->initial;
}

}  // namespace

CUresult launch(call const&, exec_ptr const& what, stream& on) {
    if (CUresult const result = check_memory(*what); result != CUDA_SUCCESS) return result;
    auto const begin = std::make_shared<operation>(), end = std::make_shared<operation>();
    if (!back_allocations(*what->copy)) return CUDA_ERROR_OUT_OF_MEMORY;
    set_conditionals(*what->copy);
    submit(on, begin, {what->last_launch});
    auto const ends = expansion(*what->copy, begin).ends();
    std::vector<std::shared_ptr<reference_set>> held;
    hold_references(*what->copy, held);
    end->completed = [held = std::move(held), copy = what->copy] { let_go_later(held); };
    submit(on, end, ends);
    what->last_launch = end;
    return CUDA_SUCCESS;
}

}  // namespace lastref::simdriver
