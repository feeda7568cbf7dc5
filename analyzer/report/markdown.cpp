// Markdown, for job summaries and comments: a line of verdict, a table, and each finding folded away below it.
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::report {
namespace {

using findings::counted;

constexpr std::size_t most_findings = 40;  // GitHub takes a summary of 1 MiB and not a byte more

std::string_view sign_of(findings::severity s) {
    switch (s) {
        case findings::severity::error:
            return "🔴";
        case findings::severity::warning:
            return "🟠";
        case findings::severity::note:
            break;
    }
    return "🔵";
}

std::string code(std::string_view text) {
    return text.empty() ? std::string{} : "<code>" + markdown_escaped(text) + "</code>";
}

std::string headline(input const& in) {
    auto const reached = in.outcome.reached;
    auto const sign = reached == gate::verdict::clean ? "✅" : reached == gate::verdict::findings ? "❌" : "⚠️";
    auto const state = in.what.incomplete.empty() ? "the trace is complete" : "the trace is **incomplete**";
    return fmt::format("## {} lastref: {}; {}\n\n", sign, counts_text(in), state);
}

std::string list(std::string_view heading, std::vector<std::string> const& sentences) {
    if (sentences.empty()) return {};
    auto out = fmt::format("{}\n\n", heading);
    for (auto const& each : sentences) out += "- " + markdown_escaped(each) + "\n";
    return out + "\n";
}

std::string row(input const& in, std::size_t i) {
    auto const& f = in.what.found[i];
    auto const bytes = f.bytes > 0 ? findings::bytes_text(f.bytes) : std::string{};
    return fmt::format("| {} {} | {} | {} | {} | {} | {} |\n", sign_of(f.severity), name_of(f.severity),
                       code(info(f.rule).name), markdown_escaped(f.title),
                       code(gate::place_of(f, in.trace, in.stacks).text()), f.count, bytes);
}

std::string table(input const& in, std::vector<std::size_t> const& which) {
    if (which.empty()) return {};
    std::string out = "| | rule | what | where | count | bytes |\n| --- | --- | --- | --- | ---: | ---: |\n";
    for (std::size_t i = 0; i < std::min(which.size(), most_findings); ++i) out += row(in, which[i]);
    if (which.size() > most_findings)
        out += fmt::format("\n{} more.\n", counted(which.size() - most_findings, "finding"));
    return out + "\n";
}

std::string details(input const& in, std::size_t i, std::size_t number) {
    auto const& f = in.what.found[i];
    return fmt::format("<details><summary>{}. {} {}</summary>\n\n{}\n</details>\n\n", number, code(info(f.rule).name),
                       markdown_escaped(f.title), markdown_block(finding_text(in, i, number, {})));
}

std::string folded_list(std::string const& summary, std::vector<std::string> const& lines) {
    if (lines.empty()) return {};
    std::string out = fmt::format("<details><summary>{}</summary>\n\n", summary);
    for (auto const& line : lines) out += "- " + line + "\n";
    return out + "\n</details>\n\n";
}

std::string ranges(input const& in) {
    std::vector<std::string> lines;
    for (auto const& each : left_by_range(in)) {
        std::string rules;
        for (auto const& share : each.shares)
            rules += (rules.empty() ? "" : ", ") + code(info(in.what.found[share.finding].rule).name);
        lines.push_back(code(in.trace.ranges()[each.range].name) + ": " + rules);
    }
    return folded_list(fmt::format("{} of {} left something", lines.size(), counted(in.trace.ranges().size(), "range")),
                       lines);
}

std::string exceptions(input const& in) {
    std::vector<std::string> known, gone, suppressions;
    for (auto const i : those(in, gate::state::known))
        known.push_back(code(info(in.what.found[i].rule).name) + " " + markdown_escaped(in.what.found[i].title));
    if (in.outcome.baseline)
        for (auto const& f : in.outcome.baseline->gone) gone.push_back(code(f.rule) + " " + markdown_escaped(f.title));
    for (auto const& s : in.outcome.suppressions)
        suppressions.push_back(fmt::format("{} {}{}", s.matches, code(s.what.text), s.matches == 0 ? " (stale)" : ""));
    return folded_list(fmt::format("{} known from the baseline", known.size()), known) +
           folded_list(fmt::format("{} of the baseline not found any more", gone.size()), gone) +
           folded_list(fmt::format("{} suppressed", in.outcome.suppressed()), suppressions);
}

}  // namespace

std::string render_markdown(input const& in) {
    auto const open = those(in, gate::state::open);
    auto out = headline(in) + list("**Fails:**", in.outcome.reasons) +
               list("**Something may be missing from this report:**", in.what.incomplete) + table(in, open);
    for (std::size_t i = 0; i < std::min(open.size(), most_findings); ++i) out += details(in, open[i], i + 1);
    out += ranges(in) + exceptions(in);
    return out + code(in.trace.path()) + "\n";
}

}  // namespace lastref::report
