// Whether the hooks saw every driver call, by CUPTI's counts (`record --audit`).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/store/trace.h"

namespace lastref::findings {

struct audit_sum {
    std::uint64_t calls = 0;                      // of the entry points that lastref records, as it recorded them
    std::uint64_t entry_points = 0;               // that were called; 0: CUPTI did not count
    std::map<std::string, std::uint64_t> missed;  // symbol → how many more CUPTI counted
    std::map<std::string, std::set<std::string>>
        callers;                                   // symbol → modules that called it past the hooks, where known
    std::map<std::string, std::uint64_t> outside;  // symbol that lastref does not record → calls
};

audit_sum sum_audit(store::trace const& trace);

// One sentence or two for people.
std::string audit_text(audit_sum const& sum);

}  // namespace lastref::findings
