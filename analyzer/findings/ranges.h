// Ranges of the program, such as tests: in which one an event fell, and which left what.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/store/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lastref::findings {

// Looks ranges up by event. The trace must outlive it.
class range_index {
  public:
    explicit range_index(store::trace const& trace);

    // Index in trace.ranges() of the range that the event fell into; of several, the one that began last.
    std::optional<std::size_t> innermost(store::process_id process, store::event_id event) const;

    // Names of all that it fell into.
    std::vector<std::string> names(store::process_id process, store::event_id event) const;

  private:
    struct stretch {
        store::event_id before;  // holds for events behind this one, up to the next stretch
        std::optional<std::size_t> range;
    };
    store::trace const& trace_;
    std::unordered_map<store::process_id, std::vector<stretch>> stretches_;
};

// A finding's part in what a range left.
struct range_share {
    std::size_t finding = 0;  // index in analysis::found
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

struct range_summary {
    std::size_t range = 0;            // index in trace.ranges()
    std::vector<range_share> shares;  // most important finding first
};

// What each range left, in the order in which they began; ranges that left nothing are not in it. Objects that were
// alive at the end belong to the range in which they were made, and to the finding that tells of their place; findings
// without such objects belong to the range of their first call that fell into one.
std::vector<range_summary> by_range(analysis const& what, store::trace const& trace);

}  // namespace lastref::findings
