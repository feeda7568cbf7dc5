// Under which conditions a report fails.
#pragma once

#include "analyzer/findings/finding.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::gate {

// A threshold of severity, single rules whatever their severity, or both: "error,failed-free".
struct fail_on {
    bool by_severity = true;
    findings::severity least = findings::severity::warning;
    std::vector<findings::rule> rules;

    bool matches(findings::finding const& f) const;
};

// Each fails on its own, whatever the others say.
struct conditions {
    fail_on threshold;
    std::optional<std::uint64_t> max_leak_bytes;   // of what was lost, see `counts_as_lost`
    std::optional<std::uint64_t> max_outstanding;  // objects of it
    bool stale_suppressions = false;
};

// What the program did not release though it should have: findings of the leak rules and frees that were refused. Notes
// are left out, since they are usually meant to be so.
bool counts_as_lost(findings::finding const& f);

// "error", "warning", "note", "none" and names of rules, separated by commas. Throws std::invalid_argument with a
// message for people that lists what is allowed.
fail_on parse_fail_on(std::string_view text);

// "4096", "64K", "10 MiB", "1.5GiB": units are powers of 1024. Throws std::invalid_argument, naming `option`.
std::uint64_t parse_bytes(std::string_view text, std::string_view option);

// As parse_fail_on reads it: for messages and reports.
std::string text_of(fail_on const& threshold);

}  // namespace lastref::gate
