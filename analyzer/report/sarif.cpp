// SARIF 2.1.0, for code scanning: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Viewers show messages as text, so
// what came from the program is escaped in them as it is for a terminal.
#include "analyzer/findings/during.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"
#include "analyzer/report/rule_pages.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace lastref::report {
namespace {

using json = nlohmann::ordered_json;

constexpr auto schema_uri =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

json text(std::string_view what) {
    return {{"text", escaped(what)}};
}

// --- rules -----------------------------------------------------------------------------------------------------------

// "UserObjectLeak": the form that viewers expect of a name beside the id.
std::string pascal_case(std::string_view name) {
    std::string out;
    bool up = true;
    for (char const c : name) {
        if (c != '-') out += up ? static_cast<char>(c - 'a' + 'A') : c;
        up = c == '-';
    }
    return out;
}

// The page's first paragraph below its heading, in one line.
std::string first_paragraph(std::string_view page) {
    auto const heading = page.find("\n\n");
    if (heading == std::string_view::npos) return {};
    auto const begin = page.find_first_not_of('\n', heading);
    if (begin == std::string_view::npos) return {};
    std::string out(page.substr(begin, page.find("\n\n", begin) - begin));
    for (char& c : out)
        if (c == '\n') c = ' ';
    return out;
}

json rule_json(findings::rule r) {
    auto const page = page_of(r);
    json out{
        {"id", info(r).name}, {"name", pascal_case(info(r).name)}, {"shortDescription", {{"text", info(r).summary}}}};
    if (auto const more = first_paragraph(page); !more.empty()) out["fullDescription"] = {{"text", more}};
    if (!page.empty()) out["help"] = {{"text", page}, {"markdown", page}};
    out["properties"] = {{"tags", {"cuda", "lifetime"}}};
    return out;
}

json rules_json() {
    json out = json::array();
    for (int i = 0; i < static_cast<int>(findings::rule::count); ++i)
        out.push_back(rule_json(static_cast<findings::rule>(i)));
    return out;
}

// --- places ----------------------------------------------------------------------------------------------------------

class places {
  public:
    places(input const& in, style const& how) : in_(in), root_(how.source_root) {}

    json artifact(std::string const& path) const {
        json out{{"uri", path_uri(path, root_)}};
        if (!root_.empty() && path.starts_with(root_ + "/")) out["uriBaseId"] = "%SRCROOT%";
        return out;
    }

    json location(std::string const& function, std::string const& file, int line, std::string const& module) const {
        json out = json::object();
        auto const& path = file.empty() ? module : file;
        if (!path.empty()) {
            out["physicalLocation"] = {{"artifactLocation", artifact(path)}};
            if (!file.empty() && line > 0) out["physicalLocation"]["region"] = {{"startLine", line}};
        }
        if (!function.empty())
            out["logicalLocations"] = {{{"fullyQualifiedName", escaped(function)}, {"kind", "function"}}};
        return out;
    }

    json frame(findings::named_frame const& f, findings::symbol const* s) const {
        std::string const module = f.module ? in_.trace.at(f.module).path : std::string{};
        auto place = s != nullptr ? location(s->function, s->file, s->line, module) : location({}, {}, 0, module);
        if (place.empty()) place["message"] = text(fmt::format("{:#x}, in no file", f.address));
        json out{{"location", place}};
        if (!module.empty()) out["module"] = escaped(module.substr(module.rfind('/') + 1));
        return out;
    }

    json stack(findings::site const& s) const {
        json frames = json::array();
        for (auto const& f : in_.stacks.of(s.call.stack).frames) {
            if (f.functions.empty()) frames.push_back(frame(f, nullptr));
            for (auto const& function : f.functions) frames.push_back(frame(f, &function));
        }
        return {{"message", text(site_text(s))}, {"frames", frames}};
    }

    std::string site_text(findings::site const& s) const {
        return fmt::format("{}: {}{}{}", findings::site_head(s), s.entry_point, s.note.empty() ? "" : ", ", s.note);
    }

  private:
    input const& in_;
    std::string root_;
};

// --- results ---------------------------------------------------------------------------------------------------------

std::string message_of(findings::finding const& f) {
    auto out = escaped(f.title) + ".";
    for (auto const& sentence : f.what) out += " " + escaped(sentence);
    for (auto const& holder : f.holders) out += " Held by " + escaped(holder) + ".";
    return out + "\n\n" + escaped(f.why) + "\n\n" + escaped(f.advice);
}

json stacks_json(places const& where, findings::finding const& f) {
    json out = json::array();
    for (auto const& s : f.sites)
        if (s.call.stack) out.push_back(where.stack(s));
    for (auto const& c : f.consequences)
        for (auto const& s : c.sites)
            if (s.call.stack) out.push_back(where.stack(s));
    return out;
}

void mark(json& out, input const& in, std::size_t i) {
    auto const& outcome = in.outcome;
    auto const state = outcome.of(i);
    if (outcome.baseline) out["baselineState"] = state == gate::state::known ? "unchanged" : "new";
    if (state != gate::state::suppressed) return;
    auto const& by = outcome.suppressions[outcome.marks[i].suppression].what;
    out["suppressions"] = {
        {{"kind", "external"}, {"justification", escaped(fmt::format("{} ({}:{})", by.text, by.file, by.line))}}};
}

json result_json(input const& in, places const& where, std::size_t i) {
    auto const& f = in.what.found[i];
    json out{{"ruleId", info(f.rule).name},
             {"ruleIndex", static_cast<int>(f.rule)},
             {"level", name_of(f.severity)},
             {"message", {{"text", message_of(f)}}}};
    auto const place = gate::place_of(f, in.trace, in.stacks);
    if (auto const at = where.location(place.function, place.file, place.line, place.module); !at.empty())
        out["locations"] = {at};
    if (auto const stacks = stacks_json(where, f); !stacks.empty()) out["stacks"] = stacks;
    out["occurrenceCount"] = f.count;
    out["partialFingerprints"] = {{"lastref/v1", f.fingerprint}};
    mark(out, in, i);
    out["properties"] = {{"confidence", name_of(f.confidence)},
                         {"confidenceReason", escaped(f.confidence_reason)},
                         {"bytes", f.bytes},
                         {"firstSeenNs", f.first_seen},
                         {"lastSeenNs", f.last_seen}};
    return out;
}

json gone_json(gate::earlier_finding const& f) {
    json out{{"ruleId", escaped(f.rule)},
             {"level", "none"},
             {"kind", "notApplicable"},
             {"message", text(f.title)},
             {"partialFingerprints", {{"lastref/v1", escaped(f.fingerprint)}}},
             {"baselineState", "absent"}};
    return out;
}

json results_json(input const& in, style const& how) {
    places const where(in, how);
    json out = json::array();
    for (std::size_t i = 0; i < in.what.found.size(); ++i) out.push_back(result_json(in, where, i));
    if (in.outcome.baseline)
        for (auto const& f : in.outcome.baseline->gone) out.push_back(gone_json(f));
    return out;
}

// --- the run ---------------------------------------------------------------------------------------------------------

json notification(std::string_view what, char const* level) {
    return {{"level", level}, {"message", text(what)}};
}

json invocation_json(input const& in) {
    json notes = json::array();
    for (auto const& reason : in.what.incomplete) notes.push_back(notification("Incomplete: " + reason, "error"));
    for (auto const& reason : in.outcome.reasons) notes.push_back(notification("Fails: " + reason, "note"));
    for (auto const& note : in.trace.notes()) notes.push_back(notification(note.text, "note"));
    return {{"executionSuccessful", in.what.incomplete.empty()},
            {"exitCode", gate::exit_status(in.outcome.reached)},
            {"toolExecutionNotifications", notes}};
}

}  // namespace

std::string render_sarif(input const& in, style const& how) {
    json run{
        {"tool", {{"driver", {{"name", "lastref"}, {"semanticVersion", LASTREF_VERSION}, {"rules", rules_json()}}}}},
        {"invocations", {invocation_json(in)}}};
    if (!how.source_root.empty())
        run["originalUriBaseIds"] = {{"%SRCROOT%", {{"uri", path_uri(how.source_root) + "/"}}}};
    run["results"] = results_json(in, how);
    run["properties"] = {{"trace", escaped(in.trace.path())}, {"events", in.what.events}};
    json const all{{"$schema", schema_uri}, {"version", "2.1.0"}, {"runs", {run}}};
    return all.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lastref::report
