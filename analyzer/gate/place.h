// Where a finding belongs in the source: the one place that lists, suppressions and code scanners name it by.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/findings/names.h"
#include "analyzer/gate/baseline.h"

#include <string>

namespace lastref::gate {

struct place {
    std::string function;  // as the symbols have it; empty where nothing is known
    std::string file;      // of the source; may be empty
    int line = 0;
    std::string module;

    // "f (src/f.cpp:10)", "f", "" as far as it is known.
    std::string text() const;
};

// The innermost function of the program's own on the stack of the first site that has one; else of a library's.
place place_of(findings::finding const& f, store::trace const& trace, findings::stacks& stacks);

// The findings of this run as another run's reports compare with them.
baseline baseline_of(findings::analysis const& what, store::trace const& trace, findings::stacks& stacks);

}  // namespace lastref::gate
