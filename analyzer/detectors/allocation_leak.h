// allocation-leak: memory that was still allocated when the process ended, by place of allocation. What a context or
// its reset took along is not a leak. How sure and how grave follows from the history of the place: see
// docs/rules/allocation-leak.md.
#pragma once

#include "analyzer/detectors/detector.h"
#include "analyzer/detectors/growth.h"

#include <map>
#include <unordered_map>

namespace lastref::detectors {

class allocation_leak : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct group {
        model::object first;
        std::uint64_t place_key = 0;
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        std::uint64_t made = 0;
        std::uint64_t freed = 0;
        bool growing = false;
        store::time_ns last = 0;
        std::vector<model::object> some;
        std::uint64_t undrained = 0;  // probably payloads whose destructor had run
        model::origin destructor;     // of the first of these
        model::origin user_object;
        bool undrained_by_address = false;
        findings::code_owner caller = findings::code_owner::unknown;
    };
    using group_map = std::map<std::tuple<std::uint64_t, model::object_kind, store::api_id>, group>;

    group_map collect(model::process_state const& process);
    void add(group_map& into, model::object const& o);
    void report(model::process_state const& process, group const& g);
    std::string library_of(model::process_state const& process, group const& g) const;
    void report_kept(model::process_state const& process, std::string const& library,
                     std::vector<group const*> const& kept);
    void judge(model::process_state const& process, finding& out, group const& g) const;
    void describe(finding& out, group const& g) const;

    std::unordered_map<store::process_id, populations> places_;
};

}  // namespace lastref::detectors
