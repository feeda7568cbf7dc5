// What was known before: the findings of an earlier report, by their fingerprints.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/gate/input_error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::gate {

// A finding as far as reports of other runs can be compared with it.
struct earlier_finding {
    std::string fingerprint;
    std::string rule;  // by name: it may be of a newer or older lastref
    std::string severity;
    std::string title;
    std::string place;  // the innermost function of the program's own, for people; may be empty
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

struct baseline {
    std::string path;
    bool complete = true;  // else what seems new may only have been missed before
    std::vector<earlier_finding> findings;
};

// From a report in JSON. Suppressed findings count as known, too. Throws input_error with the place of the mistake.
baseline parse_baseline(std::string_view json, std::string const& path);
baseline read_baseline(std::string const& path);

// Whether the file is a trace rather than a report; throws input_error where it cannot be read.
bool is_trace(std::string const& path);

}  // namespace lastref::gate
