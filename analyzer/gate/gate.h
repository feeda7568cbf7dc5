// What a report comes to: which findings count, what else fails, and the verdict.
#pragma once

#include "analyzer/gate/baseline.h"
#include "analyzer/gate/conditions.h"
#include "analyzer/gate/suppressions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lastref::gate {

enum class verdict {
    clean,       // nothing that fails, in a complete trace
    findings,    // something that fails: also in an incomplete trace, since what was found is true
    incomplete,  // nothing that fails, but the trace lacks something that could have
};

char const* name_of(verdict reached);
// The exit status that stands for it: 0, 1 or 4 (docs/ci.md).
int exit_status(verdict reached);

enum class state {
    open,        // counts
    known,       // in the baseline
    suppressed,  // by a suppression
};

struct mark {
    gate::state state = state::open;
    std::size_t suppression = 0;  // index in outcome::suppressions
};

struct used_suppression {
    suppression what;
    std::uint64_t matches = 0;  // findings; one that several would cover counts for all of them
};

struct comparison {
    std::string path;
    bool complete = true;  // the baseline's trace
    std::uint64_t fresh = 0, known = 0;
    std::vector<earlier_finding> gone;
};

// What counts_as_lost and is not suppressed; known findings too, so that a limit catches those that grow.
struct lost {
    std::uint64_t bytes = 0;
    std::uint64_t objects = 0;
};

struct outcome {
    std::vector<mark> marks;  // of the analysis's findings by index; empty: all are open
    std::vector<used_suppression> suppressions;
    std::optional<comparison> baseline;
    gate::lost lost;
    gate::conditions conditions;
    std::uint64_t failing = 0;         // open findings that the threshold names
    std::vector<std::string> reasons;  // why it fails, a sentence each; that of the findings first
    verdict reached = verdict::clean;

    state of(std::size_t finding) const { return finding < marks.size() ? marks[finding].state : state::open; }
    std::uint64_t stale() const;       // suppressions without a match
    std::uint64_t suppressed() const;  // findings
};

// `what` must have its fingerprints (findings::give_fingerprints) where there is a baseline.
outcome judge(findings::analysis const& what, store::trace const& trace, findings::stacks& stacks,
              conditions const& conditions, std::vector<suppression> const& suppressions,
              std::optional<baseline> const& known);

}  // namespace lastref::gate
