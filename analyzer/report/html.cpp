// One file of HTML: no script, no network, light and dark, from a phone's width on. Everything that came from the
// program passes through xml_escaped.
#include "analyzer/findings/during.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/html_charts.h"
#include "analyzer/report/html_memory.h"
#include "analyzer/report/html_style.h"
#include "analyzer/report/render.h"
#include "analyzer/report/stack_lines.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::report {
namespace {

using findings::counted;

constexpr std::size_t most_findings = 200;  // a browser takes more, a reader does not
constexpr std::size_t most_bars = 8;

std::string tag(std::string_view name, std::string_view text) {
    return fmt::format("<{0}>{1}</{0}>", name, xml_escaped(text));
}

// --- head ------------------------------------------------------------------------------------------------------------

std::string programs(input const& in) {
    std::string out;
    for (auto const id : in.what.used_driver) {
        auto const& p = in.trace.at(id);
        out += fmt::format("<p class=\"dim\">{}: {}{}</p>\n", xml_escaped(findings::process_name(p)),
                           xml_escaped(findings::how_it_ended(p)), after_text(p));
    }
    return out;
}

std::string head(input const& in) {
    auto const reached = in.outcome.reached;
    auto const state = in.what.incomplete.empty() ? "" : ", incomplete";
    return fmt::format("<header><h1>{}</h1><span class=\"pill {}\">{}{}</span></header>\n{}",
                       xml_escaped(base_name(in.trace.path())), gate::name_of(reached), counts_text(in), state,
                       programs(in));
}

std::string tile(std::string_view number, std::string_view what, std::string_view style = "") {
    return fmt::format("<div class=\"tile {}\"><b>{}</b><span>{}</span></div>\n", style, number, what);
}

std::string tiles(input const& in) {
    std::string out = "<div class=\"tiles\">\n";
    for (auto const s : {findings::severity::error, findings::severity::warning, findings::severity::note}) {
        std::int64_t count = 0;
        for (auto const i : those(in, gate::state::open)) count += in.what.found[i].severity == s ? 1 : 0;
        auto const name = findings::name_of(s);
        out += tile(counted(count), std::string(name) + (count == 1 ? "" : "s"), count > 0 ? name : "");
    }
    out += tile(findings::bytes_text(in.outcome.lost.bytes), "lost");
    std::uint64_t calls = 0;
    for (auto const& [name, count] : in.what.calls) calls += count;
    out += tile(counted(static_cast<std::int64_t>(calls)), "driver calls");
    auto const known = those(in, gate::state::known).size();
    if (in.outcome.baseline) out += tile(counted(static_cast<std::int64_t>(known)), "known");
    if (!in.outcome.suppressions.empty())
        out += tile(counted(static_cast<std::int64_t>(in.outcome.suppressed())), "suppressed");
    auto const& ledger = in.what.ledger;
    if (auto const checked = ledger.predicted + ledger.unexpected; checked > 0)
        out += tile(fmt::format("{} of {}", ledger.agreed, checked), "destructors as predicted");
    return out + "</div>\n";
}

std::string banner(std::string_view style, std::string_view heading, std::vector<std::string> const& sentences) {
    if (sentences.empty()) return {};
    auto out = fmt::format("<div class=\"banner {}\"><b>{}</b><ul>\n", style, heading);
    for (auto const& each : sentences) out += tag("li", each) + "\n";
    return out + "</ul></div>\n";
}

// --- charts ----------------------------------------------------------------------------------------------------------

std::string chart_card(std::string_view heading, std::string const& chart) {
    return chart.empty() ? std::string{} : fmt::format("<div class=\"card\"><h3>{}</h3>\n{}</div>\n", heading, chart);
}

// What of a function's name fits a bar's label: without parameters, and without outer scopes where it is long.
std::string label_of(std::string const& function) {
    constexpr std::size_t fits = 30;
    auto name = findings::lasting_name(function);
    for (auto at = name.find("::"); name.size() > fits && at != std::string::npos; at = name.find("::")) {
        if (name.substr(0, at).find_first_of("<({") != std::string::npos) break;
        name.erase(0, at + 2);
    }
    return name;
}

std::string lost_chart(input const& in, std::vector<std::size_t> const& open) {
    std::vector<bar> bars;
    for (auto const i : open) {
        auto const& f = in.what.found[i];
        if (f.bytes == 0) continue;
        auto const place = gate::place_of(f, in.trace, in.stacks);
        auto const name = place.function.empty() ? std::string(info(f.rule).name) : label_of(place.function);
        bars.push_back({name, findings::bytes_text(f.bytes), f.bytes, std::string(findings::name_of(f.severity))});
    }
    std::stable_sort(bars.begin(), bars.end(), [](auto const& a, auto const& b) { return a.size > b.size; });
    bars.resize(std::min(bars.size(), most_bars));
    return bar_chart(bars, "Bytes of each finding, by the function that it belongs to");
}

std::string calls_chart(input const& in) {
    std::vector<bar> bars;
    for (auto const& [name, count] : in.what.calls)
        bars.push_back({name, counted(static_cast<std::int64_t>(count)), count, "plain"});
    std::stable_sort(bars.begin(), bars.end(), [](auto const& a, auto const& b) { return a.size > b.size; });
    bars.resize(std::min(bars.size(), most_bars));
    return bar_chart(bars, "The most frequent driver calls");
}

std::string charts(input const& in, std::vector<std::size_t> const& open) {
    std::string out;
    if (auto const timeline = timeline_chart(in, open); !timeline.empty())
        out += fmt::format("<h2>When</h2>\n<div class=\"card\">\n{}</div>\n", timeline);
    return out + "<h2>How much</h2>\n<div class=\"charts\">\n" + chart_card("Bytes by finding", lost_chart(in, open)) +
           chart_card("Driver calls", calls_chart(in)) + "</div>\n";
}

// --- findings --------------------------------------------------------------------------------------------------------

std::string stack_html(input const& in, findings::site const& site) {
    std::string out = "<ol class=\"stack mono\">\n";
    for (auto const& entry : stack_entries(in, site)) {
        if (!entry.line) {
            out += fmt::format("<li class=\"dim\">{}</li>\n", xml_escaped(entry.instead));
            continue;
        }
        bool const own = entry.line->owner == findings::code_owner::program;
        out += fmt::format("<li><span class=\"{}\">{}</span><span class=\"dim\">{}</span></li>\n", own ? "own" : "",
                           xml_escaped(entry.line->function), xml_escaped(entry.line->place));
    }
    return out + "</ol>\n";
}

std::string site_html(input const& in, findings::site const& s) {
    if (!s.call.event) return {};
    return fmt::format("<div class=\"site\"><p>{}: <code>{}</code>{}</p>\n{}</div>\n",
                       xml_escaped(findings::site_head(s)), xml_escaped(s.entry_point),
                       xml_escaped(s.note.empty() ? "" : ", " + s.note), stack_html(in, s));
}

std::string paragraphs(std::vector<std::string> const& sentences) {
    std::string out;
    for (auto const& each : sentences) out += tag("p", each);
    return out;
}

std::string entry(std::string_view term, std::string const& html) {
    return html.empty() ? std::string{} : fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, html);
}

std::string where(input const& in, findings::finding const& f) {
    std::string out;
    for (auto const& s : f.sites) out += site_html(in, s);
    return out;
}

std::string also(input const& in, findings::finding const& f) {
    std::string out;
    for (auto const& c : f.consequences) {
        out += tag("p", c.text + ".");
        for (auto const& s : c.sites) out += site_html(in, s);
    }
    return out;
}

std::string meta(input const& in, findings::finding const& f, std::size_t number) {
    auto const severity = findings::name_of(f.severity);
    auto out = fmt::format("<div class=\"meta\"><b class=\"{0}\">{1}. {0}</b><code>{2}</code><span>{3}</span>",
                           severity, number, info(f.rule).name, findings::name_of(f.confidence));
    if (f.count > 1) out += fmt::format("<span>{} times</span>", counted(static_cast<std::int64_t>(f.count)));
    if (f.bytes > 0) out += tag("span", findings::bytes_text(f.bytes));
    if (auto const place = gate::place_of(f, in.trace, in.stacks).text(); !place.empty()) out += tag("code", place);
    return out + "</div>";
}

std::string card(input const& in, std::size_t i, std::size_t number) {
    auto const& f = in.what.found[i];
    bool const open = number <= 3 && f.severity > findings::severity::note;  // the rest unfolds on request
    auto out = fmt::format(
        "<details class=\"card finding {}\" id=\"f{}\"{}><summary>{}<h3>{}</h3></summary>\n<div class=\"body\"><dl>\n",
        findings::name_of(f.severity), number, open ? " open" : "", meta(in, f, number), xml_escaped(f.title));
    out += entry("What", paragraphs(f.what)) + entry("Held by", paragraphs(f.holders)) + entry("Where", where(in, f)) +
           entry("Why", tag("p", f.why)) + entry("To do", tag("p", f.advice)) +
           entry("How sure", tag("p", fmt::format("{}: {}.", findings::name_of(f.confidence), f.confidence_reason))) +
           entry("Also", also(in, f)) + entry("Fingerprint", tag("code", f.fingerprint));
    return out + "</dl></div></details>\n";
}

std::string cards(input const& in, std::vector<std::size_t> const& open) {
    if (open.empty()) return {};
    std::string out = "<h2>Findings</h2>\n";
    for (std::size_t i = 0; i < std::min(open.size(), most_findings); ++i) out += card(in, open[i], i + 1);
    if (open.size() > most_findings)
        out += fmt::format("<p class=\"dim\">{} more, of less weight; the report in JSON has them all.</p>\n",
                           counted(open.size() - most_findings, "finding"));
    return out;
}

// --- what is set aside -----------------------------------------------------------------------------------------------

std::string list(std::string_view heading, std::vector<std::string> const& items) {
    if (items.empty()) return {};
    auto out = fmt::format("<h2>{}</h2>\n<ul class=\"list card\">\n", heading);
    for (auto const& item : items) out += "<li>" + item + "</li>\n";
    return out + "</ul>\n";
}

std::string ranges(input const& in) {
    std::vector<std::string> items;
    for (auto const& each : left_by_range(in)) {
        std::string rules;
        for (auto const& share : each.shares) {
            auto const& f = in.what.found[share.finding];
            rules += fmt::format("<div class=\"dim\">{}, {} of {}</div>", xml_escaped(f.title), share.count, f.count);
        }
        items.push_back(tag("code", in.trace.ranges()[each.range].name) + rules);
    }
    return list(fmt::format("{} of {} left something", items.size(), counted(in.trace.ranges().size(), "range")),
                items);
}

std::string set_aside(input const& in) {
    std::vector<std::string> known, gone, suppressions, losses;
    for (auto const i : those(in, gate::state::known))
        known.push_back(tag("code", info(in.what.found[i].rule).name) + " " + xml_escaped(in.what.found[i].title));
    if (in.outcome.baseline)
        for (auto const& f : in.outcome.baseline->gone)
            gone.push_back(tag("code", f.rule) + " " + xml_escaped(f.title));
    for (auto const& s : in.outcome.suppressions)
        suppressions.push_back(fmt::format("{} by {}{}", counted(static_cast<std::int64_t>(s.matches)),
                                           tag("code", s.what.text), s.matches == 0 ? " (stale)" : ""));
    for (auto const& loss : in.what.losses)
        if (loss.count != 0) losses.push_back(xml_escaped(fmt::format("{}: {}", counted(loss.count), loss.text)));
    return list("Known from the baseline", known) + list("Of the baseline, not found any more", gone) +
           list("Suppressions", suppressions) + list("Not recorded", losses);
}

}  // namespace

std::string render_html(input const& in) {
    auto const open = those(in, gate::state::open);
    auto const title = fmt::format("{}: {}", base_name(in.trace.path()), counts_text(in));
    return fmt::format(
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
               "'unsafe-inline'\">\n"
               "<title>{}</title>\n<style>{}</style></head>\n<body><main>\n",
               xml_escaped(title), html_style) +
           head(in) + banner("fails", "Fails", in.outcome.reasons) +
           banner("", "Incomplete: something may be missing from this report", in.what.incomplete) + tiles(in) +
           charts(in, open) + memory_section(in) + cards(in, open) + ranges(in) + set_aside(in) +
           fmt::format("<footer>lastref {} · {}</footer>\n</main></body></html>\n", LASTREF_VERSION,
                       xml_escaped(in.trace.path()));
}

}  // namespace lastref::report
