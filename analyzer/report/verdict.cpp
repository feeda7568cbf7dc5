#include "analyzer/report/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

namespace lastref::report {
namespace {

bool set_severity(fail_on& out, std::string_view word) {
    for (auto const s : {findings::severity::note, findings::severity::warning, findings::severity::error}) {
        if (name_of(s) != word) continue;
        out.by_severity = true;
        out.least = s;
        return true;
    }
    return false;
}

void add_word(fail_on& out, std::string_view word) {
    if (word == "none" || set_severity(out, word)) return;
    auto const rule = findings::rule_named(word);
    if (!rule)
        throw std::invalid_argument(
            fmt::format("--fail-on: there is no rule or severity \"{}\"; allowed are error, warning, note, none, "
                        "or the rules {}",
                        word, findings::rule_names()));
    out.rules.push_back(*rule);
}

}  // namespace

bool fail_on::matches(findings::finding const& f) const {
    return (by_severity && f.severity >= least) || std::find(rules.begin(), rules.end(), f.rule) != rules.end();
}

fail_on parse_fail_on(std::string_view text) {
    fail_on out;
    out.by_severity = false;
    while (true) {
        auto const comma = text.find(',');
        add_word(out, text.substr(0, comma));
        if (comma == std::string_view::npos) return out;
        text.remove_prefix(comma + 1);
    }
}

verdict judge(findings::analysis const& what, fail_on const& threshold) {
    bool const failed =
        std::any_of(what.found.begin(), what.found.end(), [&](auto const& f) { return threshold.matches(f); });
    if (failed) return verdict::findings;
    return what.incomplete.empty() ? verdict::clean : verdict::incomplete;
}

}  // namespace lastref::report
