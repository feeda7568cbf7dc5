#include "gui/loader/finding_rows.h"

#include "analyzer/findings/during.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "analyzer/gate/suppressions.h"
#include "analyzer/report/escape.h"
#include "gui/loader/stack_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::gui {
namespace {

site_row row_of(report::input const& in, findings::site const& site) {
    auto where = site.call.thread ? findings::when_text(site) : std::string{};
    return {site.role, std::move(where), site.entry_point, site.note, site.call.event, stack_rows(in, site)};
}

std::vector<site_row> rows_of(report::input const& in, std::vector<findings::site> const& sites) {
    std::vector<site_row> out;
    for (auto const& site : sites) out.push_back(row_of(in, site));
    return out;
}

std::vector<consequence_row> rows_of(report::input const& in, std::vector<findings::consequence> const& all) {
    std::vector<consequence_row> out;
    for (auto const& each : all) out.push_back({std::string(info(each.from).name), each.text, rows_of(in, each.sites)});
    return out;
}

// A word of a command line, quoted for a shell where it needs to be.
std::string quoted(std::string const& word) {
    constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,@%";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
    std::string out = "'";
    for (char const c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string command_of(report::input const& in, findings::finding const& f) {
    std::string events;
    for (auto const& site : f.sites)
        if (site.call.event) events += (events.empty() ? "" : ", ") + std::to_string(site.call.event.value);
    auto const trace = quoted(in.trace.path());
    auto const report = fmt::format("lastref report {} --fail-on {}", trace, info(f.rule).name);
    if (events.empty()) return report;
    return report + fmt::format("\nlastref query {} 'SELECT * FROM calls WHERE event IN ({})'", trace, events);
}

std::string markdown_of(report::input const& in, std::size_t i) {
    auto const& f = in.what.found[i];
    return fmt::format("**{}** `{}`: {}\n\n{}\n", name_of(f.severity), info(f.rule).name,
                       report::markdown_escaped(f.title),
                       report::markdown_block(report::finding_text(in, i, i + 1, {})));
}

// The lines of the file without its comments on how to use it.
std::string suppression_of(report::input const& in, std::size_t i) {
    auto const file = gate::written_suppressions(in.what, {i}, in.trace, in.stacks);
    auto const lines = file.find("\n\n");
    return lines == std::string::npos ? file : file.substr(lines + 2);
}

template <class Id>
void add_once(std::vector<Id>& to, Id id) {
    if (id != Id{} && std::find(to.begin(), to.end(), id) == to.end()) to.push_back(id);
}

void add_facets(finding_row& out, findings::finding const& f) {
    for (auto const& site : f.sites) {
        add_once(out.threads, site.call.thread);
        if (site.call.stream.kind == model::stream_kind::created) add_once(out.streams, site.call.stream.handle);
    }
    for (auto const& object : f.objects) add_once(out.objects, object.handle);
}

finding_row row_of(report::input const& in, std::size_t i) {
    auto const& f = in.what.found[i];
    finding_row out;
    out.rule = f.rule;
    out.severity = f.severity;
    out.state = in.outcome.of(i);
    out.confidence = name_of(f.confidence);
    out.confidence_reason = f.confidence_reason;
    out.title = f.title;
    out.what = f.what;
    out.holders = f.holders;
    out.why = f.why;
    out.advice = f.advice;
    out.place = gate::place_of(f, in.trace, in.stacks).text();
    out.process = f.process;
    if (f.process) out.process_name = findings::process_name(in.trace.at(f.process));
    out.first_seen = f.first_seen;
    out.last_seen = f.last_seen;
    out.count = f.count;
    out.bytes = f.bytes;
    out.fingerprint = f.fingerprint;
    out.sites = rows_of(in, f.sites);
    out.consequences = rows_of(in, f.consequences);
    out.suppression = suppression_of(in, i);
    out.markdown = markdown_of(in, i);
    out.command_line = command_of(in, f);
    add_facets(out, f);
    return out;
}

}  // namespace

std::vector<finding_row> finding_rows(report::input const& in, std::function<void()> const& tick) {
    std::vector<finding_row> out;
    out.reserve(in.what.found.size());
    for (std::size_t i = 0; i < in.what.found.size(); ++i) {
        out.push_back(row_of(in, i));
        tick();
    }
    return out;
}

}  // namespace lastref::gui
