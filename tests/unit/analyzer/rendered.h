// The text report of a built trace, for goldens.
#pragma once

#include <string>

#include "analyzer/report/render.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::test {

inline std::string rendered(trace_builder& t) {
    auto const names = t.names();
    auto const path = t.finish();
    auto const trace = store::trace::open(path);
    symbols::stacks stacks(trace, *names);
    auto const what = detectors::analyse(trace, {}, &stacks);
    auto out = report::render(report::format::text, {trace, what, stacks, {}}, {});
    for (auto at = out.find(path.string()); at != std::string::npos; at = out.find(path.string()))
        out.replace(at, path.string().size(), "demo.lastref");
    return out;
}

}  // namespace lastref::test
