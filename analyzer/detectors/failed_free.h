// failed-free: a free, destroy, release or unregister that was refused, and that no later call on the same object made
// good. What was released before or never made is double-free's; what a callback or a capture forbids is a consequence
// of theirs.
#pragma once

#include "analyzer/detectors/detector.h"

#include <map>
#include <unordered_map>

namespace lastref::detectors {

class failed_free : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    enum class state : std::uint8_t {
        live,  // still there when the process ended
        gone_with_context,
        of_graph,  // memory that belongs to a graph
        inside,    // the address lies inside an allocation, not at its begin
        unknown,   // no object of that handle is known
    };
    struct failure {
        state now = state::live;
        model::object what;
        store::handle named = 0;  // by the call
        model::origin call;       // the first refused call
        model::origin earlier;    // of_graph: the allocation
        std::uint64_t calls = 1;
    };
    // Objects whose failures look alike are one finding.
    struct group {
        failure first;
        std::uint64_t objects = 0;
        std::uint64_t calls = 0;
        std::uint64_t bytes = 0;
        store::time_ns last = 0;
        std::vector<model::object> some;
        std::vector<model::object_id> ids;
    };
    using key = std::tuple<state, std::int64_t, store::api_id, std::uint64_t, std::uint64_t>;

    failure about_nothing_live(model::process_state const& process, model::event const& e) const;
    void count(model::process_state const& process, failure const& f);
    void report(model::process_state const& process, group const& g);
    void describe(finding& out, group const& g) const;
    void explain(finding& out, group const& g) const;

    std::unordered_map<model::object_id, failure> open_;
    std::map<store::process_id, std::map<key, group>> closed_;
};

}  // namespace lastref::detectors
