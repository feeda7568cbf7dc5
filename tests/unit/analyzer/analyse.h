// From a built trace to what the analyzer says, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/detectors/analysis.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::test {

inline findings::analysis analyse(trace_builder& t) {
    auto const names = t.names();
    auto const trace = store::trace::open(t.finish());
    symbols::stacks stacks(trace, *names);
    return detectors::analyse(trace, {}, &stacks);
}

// As where the files with the names are gone.
inline findings::analysis analyse_without_names(trace_builder& t) {
    return detectors::analyse(store::trace::open(t.finish()));
}

inline std::vector<findings::finding> of_rule(findings::analysis const& what, findings::rule rule) {
    std::vector<findings::finding> out;
    std::copy_if(what.found.begin(), what.found.end(), std::back_inserter(out),
                 [rule](auto const& f) { return f.rule == rule; });
    return out;
}

// "rule: title" of everything found, one a line: what a failing test prints.
inline std::string titles(findings::analysis const& what) {
    std::string out;
    for (auto const& f : what.found)
        out += std::string(info(f.rule).name) + ": " + f.title + " [" + std::string(name_of(f.severity)) + ", " +
               std::string(name_of(f.confidence)) + "]\n";
    return out;
}

}  // namespace lastref::test
