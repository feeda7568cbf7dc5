// Suppressions: findings that one knows of and does not want to hear of again. One a line, in LeakSanitizer's manner:
//
//     # why it may stay
//     allocation-leak:^cache::fill$
//     *:libvendor.so
//
// The rule (or * for every rule), a colon, and a pattern (pattern.h) that is looked for in the names of the finding's
// sites: functions with and without their parameters, source files, modules, threads and ranges, and in its
// fingerprint.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/findings/ranges.h"
#include "analyzer/gate/input_error.h"
#include "analyzer/store/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::gate {

struct suppression {
    std::optional<findings::rule> rule;  // none: every rule
    std::string pattern;
    std::string text;  // as it was written
    std::string file;
    std::size_t line = 0;
};

// Throws input_error. `file` is for messages.
std::vector<suppression> parse_suppressions(std::string_view text, std::string const& file);
std::vector<suppression> read_suppressions(std::string const& path);

// The names that patterns are looked for in.
std::vector<std::string> names_in(findings::finding const& f, store::trace const& trace, findings::stacks& stacks,
                                  findings::range_index const& ranges);

bool suppresses(suppression const& s, findings::finding const& f, std::vector<std::string> const& names);

// A file of suppressions that covers the findings `which` of `what`: each by the innermost function of the program's
// own on its stacks, else by the innermost of a library, else by its fingerprint.
std::string written_suppressions(findings::analysis const& what, std::vector<std::size_t> const& which,
                                 store::trace const& trace, findings::stacks& stacks);

}  // namespace lastref::gate
