#include "analyzer/report/difference.h"

#include "analyzer/findings/wording.h"
#include "analyzer/report/escape.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace lastref::report {
namespace {

using findings::counted;
using json = nlohmann::ordered_json;

std::string paint(style const& how, std::string_view code, std::string const& text) {
    return how.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string amount(std::uint64_t count, std::uint64_t bytes) {
    return bytes == 0 ? counted(static_cast<std::int64_t>(count))
                      : fmt::format("{}, {}", counted(static_cast<std::int64_t>(count)), findings::bytes_text(bytes));
}

std::string name_of(gate::earlier_finding const& f) {
    return escaped(fmt::format("{} {}: {}{}{}", f.severity, f.rule, f.title, f.place.empty() ? "" : ", in ", f.place));
}

std::string lines(std::vector<gate::earlier_finding> const& all, std::string_view heading, std::string_view sign,
                  std::string_view colour, style const& how) {
    if (all.empty()) return {};
    auto out = fmt::format("{}: {}\n", heading, counted(all.size(), "finding"));
    for (auto const& f : all)
        out += paint(how, colour, fmt::format("  {} {} ({})", sign, name_of(f), amount(f.count, f.bytes))) + "\n";
    return out + "\n";
}

std::string changes(gate::difference const& d) {
    if (d.changed.empty()) return {};
    auto out = fmt::format("Changed: {}\n", counted(d.changed.size(), "finding"));
    for (auto const& pair : d.changed)
        out += fmt::format("  ~ {} ({} → {})\n", name_of(pair.after), amount(pair.before.count, pair.before.bytes),
                           amount(pair.after.count, pair.after.bytes));
    return out + "\n";
}

std::string rules(gate::difference const& d) {
    if (d.rules.empty()) return {};
    std::string out = "By rule: findings, objects and bytes\n";
    for (auto const& [rule, t] : d.rules)
        out += fmt::format("  {}: {} → {} findings, {} → {} objects, {} → {}\n", escaped(rule), t.findings_before,
                           t.findings_after, t.count_before, t.count_after, findings::bytes_text(t.bytes_before),
                           findings::bytes_text(t.bytes_after));
    return out + "\n";
}

std::string incomplete(gate::baseline const& of, std::string_view what) {
    return of.complete ? std::string{} : fmt::format("{} is INCOMPLETE: {}\n", escaped(of.path), what);
}

std::string verdict(gate::difference const& d) {
    if (d.same()) return fmt::format("No difference; {} in both.\n", counted(d.unchanged.size(), "finding"));
    return fmt::format("{} came, {} went, {} changed, {} the same.\n", d.came.size(), d.went.size(), d.changed.size(),
                       d.unchanged.size());
}

json finding_json(gate::earlier_finding const& f) {
    return {
        {"rule", f.rule},   {"severity", f.severity},      {"title", f.title}, {"count", f.count}, {"bytes", f.bytes},
        {"place", f.place}, {"fingerprint", f.fingerprint}};
}

json list_json(std::vector<gate::earlier_finding> const& all) {
    json out = json::array();
    for (auto const& f : all) out.push_back(finding_json(f));
    return out;
}

json changes_json(gate::difference const& d) {
    json out = json::array();
    for (auto const& pair : d.changed) {
        auto one = finding_json(pair.after);
        one["count_before"] = pair.before.count;
        one["bytes_before"] = pair.before.bytes;
        out.push_back(one);
    }
    return out;
}

json rules_json(gate::difference const& d) {
    json out = json::object();
    for (auto const& [rule, t] : d.rules)
        out[rule] = {{"findings", {t.findings_before, t.findings_after}},
                     {"count", {t.count_before, t.count_after}},
                     {"bytes", {t.bytes_before, t.bytes_after}}};
    return out;
}

json side_json(gate::baseline const& of) {
    return {{"path", of.path}, {"complete", of.complete}, {"findings", of.findings.size()}};
}

}  // namespace

std::string render_difference_text(gate::difference const& d, style const& how) {
    return fmt::format("lastref diff: {} → {}\n\n", escaped(d.before.path), escaped(d.after.path)) +
           lines(d.came, "Came", "+", "1;31", how) + lines(d.went, "Went", "-", "1;32", how) + changes(d) + rules(d) +
           incomplete(d.before, "what came may only have been missed in it.") +
           incomplete(d.after, "what went may only be missing from it.") + verdict(d);
}

std::string render_difference_json(gate::difference const& d) {
    json const all{{"before", side_json(d.before)}, {"after", side_json(d.after)}, {"came", list_json(d.came)},
                   {"went", list_json(d.went)},     {"changed", changes_json(d)},  {"unchanged", d.unchanged.size()},
                   {"rules", rules_json(d)}};
    return all.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lastref::report
