#include "analyzer/gate/gate.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

namespace lastref::gate {
namespace {

using findings::counted;

void apply(std::vector<suppression> const& all, findings::analysis const& what, store::trace const& trace,
           findings::stacks& stacks, outcome& out) {
    for (auto const& s : all) out.suppressions.push_back({s, 0});
    if (all.empty()) return;
    findings::range_index const ranges(trace);
    for (std::size_t i = 0; i < what.found.size(); ++i) {
        auto const names = names_in(what.found[i], trace, stacks, ranges);
        for (std::size_t s = 0; s < all.size(); ++s) {
            if (!suppresses(all[s], what.found[i], names)) continue;
            ++out.suppressions[s].matches;
            if (out.marks[i].state != state::suppressed) out.marks[i] = {state::suppressed, s};
        }
    }
}

void compare(baseline const& before, findings::analysis const& what, outcome& out) {
    auto& result = out.baseline.emplace();
    result.path = before.path;
    result.complete = before.complete;
    std::unordered_set<std::string_view> earlier, now;
    for (auto const& f : before.findings) earlier.insert(f.fingerprint);
    for (std::size_t i = 0; i < what.found.size(); ++i) {
        now.insert(what.found[i].fingerprint);
        auto& mark = out.marks[i];
        if (mark.state == state::suppressed) continue;
        bool const known = earlier.contains(what.found[i].fingerprint);
        if (known) mark.state = state::known;
        ++(known ? result.known : result.fresh);
    }
    for (auto const& f : before.findings)
        if (!now.contains(f.fingerprint)) result.gone.push_back(f);
}

void sum_up(findings::analysis const& what, outcome& out) {
    for (std::size_t i = 0; i < what.found.size(); ++i) {
        if (out.of(i) == state::suppressed || !counts_as_lost(what.found[i])) continue;
        out.lost.bytes += what.found[i].bytes;
        out.lost.objects += what.found[i].count;
    }
}

void fail_by_findings(findings::analysis const& what, outcome& out) {
    auto& failing = out.failing;
    for (std::size_t i = 0; i < what.found.size(); ++i)
        if (out.of(i) == state::open && out.conditions.threshold.matches(what.found[i])) ++failing;
    if (failing > 0)
        out.reasons.push_back(fmt::format("{}{}, by --fail-on {}.", counted(failing, "finding"),
                                          out.baseline ? " not in the baseline" : "",
                                          text_of(out.conditions.threshold)));
}

void fail_by_limits(outcome& out) {
    auto const& limits = out.conditions;
    if (limits.max_leak_bytes && out.lost.bytes > *limits.max_leak_bytes)
        out.reasons.push_back(fmt::format("{} lost, more than --max-leak-bytes {}.",
                                          findings::bytes_text(out.lost.bytes), *limits.max_leak_bytes));
    if (limits.max_outstanding && out.lost.objects > *limits.max_outstanding)
        out.reasons.push_back(fmt::format("{} lost, more than --max-outstanding {}.",
                                          counted(out.lost.objects, "object"), *limits.max_outstanding));
}

// In an incomplete trace a suppression may have nothing to match because that is what is missing.
void fail_by_stale(findings::analysis const& what, outcome& out) {
    if (out.conditions.stale_suppressions && out.stale() > 0 && what.incomplete.empty())
        out.reasons.push_back(
            fmt::format("{} without a match (--fail-on-stale).", counted(out.stale(), "suppression")));
}

}  // namespace

char const* name_of(verdict reached) {
    switch (reached) {
        case verdict::clean:
            return "clean";
        case verdict::findings:
            return "findings";
        case verdict::incomplete:
            break;
    }
    return "incomplete";
}

int exit_status(verdict reached) {
    switch (reached) {
        case verdict::clean:
            return 0;
        case verdict::findings:
            return 1;
        case verdict::incomplete:
            break;
    }
    return 4;
}

std::uint64_t outcome::stale() const {
    return static_cast<std::uint64_t>(
        std::count_if(suppressions.begin(), suppressions.end(), [](auto const& s) { return s.matches == 0; }));
}

std::uint64_t outcome::suppressed() const {
    return static_cast<std::uint64_t>(
        std::count_if(marks.begin(), marks.end(), [](auto const& m) { return m.state == state::suppressed; }));
}

outcome judge(findings::analysis const& what, store::trace const& trace, findings::stacks& stacks,
              conditions const& conditions, std::vector<suppression> const& suppressions,
              std::optional<baseline> const& known) {
    outcome out;
    out.conditions = conditions;
    out.marks.resize(what.found.size());
    apply(suppressions, what, trace, stacks, out);
    if (known) compare(*known, what, out);
    sum_up(what, out);
    fail_by_findings(what, out);
    fail_by_limits(out);
    fail_by_stale(what, out);
    if (!out.reasons.empty())
        out.reached = verdict::findings;
    else
        out.reached = what.incomplete.empty() ? verdict::clean : verdict::incomplete;
    return out;
}

}  // namespace lastref::gate
