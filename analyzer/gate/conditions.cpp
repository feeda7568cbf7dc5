#include "analyzer/gate/conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace lastref::gate {
namespace {

bool set_severity(fail_on& out, std::string_view word) {
    for (auto const s : {findings::severity::note, findings::severity::warning, findings::severity::error}) {
        if (name_of(s) != word) continue;
        out.least = out.by_severity ? std::min(out.least, s) : s;
        out.by_severity = true;
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

// The factor of a unit, 0 for what is none.
double factor_of(std::string_view unit) {
    constexpr std::string_view prefixes = "KMGT";
    if (unit.empty() || unit == "B" || unit == "bytes") return 1;
    auto const power = prefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    auto const rest = unit.substr(1);
    bool const known = power != std::string_view::npos && (rest.empty() || rest == "iB" || rest == "B");
    return known ? std::pow(1024.0, static_cast<double>(power + 1)) : 0;
}

}  // namespace

bool fail_on::matches(findings::finding const& f) const {
    return (by_severity && f.severity >= least) || std::find(rules.begin(), rules.end(), f.rule) != rules.end();
}

bool counts_as_lost(findings::finding const& f) {
    return f.severity > findings::severity::note &&
           (info(f.rule).name.ends_with("-leak") || f.rule == findings::rule::failed_free);
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

std::uint64_t parse_bytes(std::string_view text, std::string_view option) {
    double number = 0;
    auto const [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    auto const bytes = number * factor_of(unit);
    bool const sound = problem == std::errc{} && factor_of(unit) > 0 && bytes >= 0 && bytes < 0x1p63;
    if (!sound)
        throw std::invalid_argument(
            fmt::format("{}: \"{}\" is no number of bytes such as 4096, 64K or 1.5GiB", option, text));
    return static_cast<std::uint64_t>(bytes);
}

std::string text_of(fail_on const& threshold) {
    std::string out = threshold.by_severity ? std::string(name_of(threshold.least)) : std::string{};
    for (auto const r : threshold.rules) out += (out.empty() ? "" : ",") + std::string(info(r).name);
    return out.empty() ? "none" : out;
}

}  // namespace lastref::gate
