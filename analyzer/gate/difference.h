// Two recordings side by side: what came, what went, and what changed in number or size.
#pragma once

#include "analyzer/gate/baseline.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lastref::gate {

struct pair_of_findings {
    earlier_finding before, after;  // of the same fingerprint
};

struct rule_totals {
    std::uint64_t findings_before = 0, findings_after = 0;
    std::uint64_t count_before = 0, count_after = 0;
    std::uint64_t bytes_before = 0, bytes_after = 0;
};

struct difference {
    baseline before, after;
    std::vector<earlier_finding> came, went;
    std::vector<pair_of_findings> changed;   // in count or bytes
    std::vector<earlier_finding> unchanged;  // as they are in both
    std::map<std::string, rule_totals> rules;

    bool complete() const { return before.complete && after.complete; }
    bool same() const { return came.empty() && went.empty() && changed.empty(); }
};

difference compare(baseline before, baseline after);

}  // namespace lastref::gate
