// What a report comes to: the rule by which `report` chooses its exit status.
#pragma once

#include "analyzer/findings/analysis.h"

#include <string>
#include <string_view>
#include <vector>

namespace lastref::report {

enum class verdict {
    clean,       // nothing at or above the threshold, in a complete trace
    findings,    // something at or above it
    incomplete,  // nothing found, but the trace lacks something that could have shown it
};

// A threshold of severity, single rules whatever their severity, or both: "error,failed-free".
struct fail_on {
    bool by_severity = true;
    findings::severity least = findings::severity::warning;
    std::vector<findings::rule> rules;

    bool matches(findings::finding const& f) const;
};

// "error", "warning", "note", "none" and names of rules, separated by commas. Throws std::invalid_argument with a
// message for people that lists what is allowed.
fail_on parse_fail_on(std::string_view text);

verdict judge(findings::analysis const& what, fail_on const& threshold);

}  // namespace lastref::report
