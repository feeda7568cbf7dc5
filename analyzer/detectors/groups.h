// Findings of one kind and place are one finding: what detectors keep until the process ends.
#pragma once

#include "analyzer/detectors/detector.h"

#include <algorithm>
#include <map>

namespace lastref::detectors {

// What the cases of one group have in common with those of any other rule.
struct tally {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    store::time_ns first = 0;
    store::time_ns last = 0;
    std::vector<model::object> some;

    void add(store::time_ns at, model::object const* object = nullptr) {
        first = count == 0 ? at : std::min(first, at);
        last = std::max(last, at);
        ++count;
        if (object == nullptr) return;
        if (model::is_memory(object->kind)) bytes += object->bytes;
        keep_first(some, *object);
    }
};

// Groups of one rule by process and key. `Case` is the group's first case, which the finding tells of.
template <class Case>
class groups {
  public:
    struct group {
        Case first;
        tally all;
    };

    // The group of `key`; made of `first` where it is new.
    group& of(store::process_id process, std::uint64_t key, Case const& first) {
        return by_process_[process].try_emplace(key, group{first, {}}).first->second;
    }

    // Calls `report(key, group)` for each group of the process, in no order that matters, and forgets them.
    template <class Report>
    void report(store::process_id process, Report report) {
        auto const found = by_process_.find(process);
        if (found == by_process_.end()) return;
        for (auto const& [key, g] : found->second) report(key, g);
        by_process_.erase(found);
    }

  private:
    std::map<store::process_id, std::map<std::uint64_t, group>> by_process_;
};

}  // namespace lastref::detectors
