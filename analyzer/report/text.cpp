// The report that a person reads at a terminal or in a log.
#include "analyzer/findings/audit.h"
#include "analyzer/findings/code_owner.h"
#include "analyzer/findings/during.h"
#include "analyzer/findings/pending_calls.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"
#include "analyzer/report/stack_lines.h"
#include "analyzer/symbols/short_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lastref::report {
namespace {

using findings::counted;

enum class ink { plain, bold, dim, red, yellow, blue, green };

class page {
  public:
    explicit page(style const& how) : how_(how) {}

    std::string paint(ink with, std::string_view text) const {
        static constexpr std::array<std::string_view, 7> codes{"", "1", "2", "1;31", "1;33", "1;34", "1;32"};
        if (!how_.colour || with == ink::plain) return std::string(text);
        return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(with)], text);
    }

    void line(std::string_view text = {}) {
        out_ += text;
        out_ += '\n';
    }

    // Wraps at words. `label` stands in the first line's margin, which is as wide as all others' indentation.
    void wrapped(std::string_view text, std::size_t indent, std::string_view label = {}, ink with = ink::bold,
                 std::size_t hang = 0) {
        std::string margin = std::string(2, ' ') + std::string(label);
        margin.resize(std::max(indent, margin.size()), ' ');
        out_ += label.empty() ? margin : fmt::format("  {}{}", paint(with, label), margin.substr(2 + label.size()));
        std::size_t column = margin.size();
        bool first = true;
        while (!text.empty()) {
            auto const space = text.find(' ');
            auto const word = text.substr(0, space);
            if (!first && column + 1 + word.size() > how_.width) {
                out_ += '\n' + std::string(indent + hang, ' ');
                column = indent + hang;
                first = true;
            }
            out_ += first ? "" : " ";
            out_ += word;
            column += word.size() + (first ? 0 : 1);
            first = false;
            text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
        }
        out_ += '\n';
    }

    std::size_t width() const { return how_.width; }
    std::string take() { return std::move(out_); }

  private:
    style const& how_;
    std::string out_;
};

constexpr std::size_t most_findings = 40;  // nobody reads more at a time
constexpr std::size_t body = 10;           // indentation of a finding's paragraphs, after their labels

ink ink_of(findings::severity s) {
    switch (s) {
        case findings::severity::error:
            return ink::red;
        case findings::severity::warning:
            return ink::yellow;
        case findings::severity::note:
            break;
    }
    return ink::blue;
}

// Columns on a terminal: bytes that go on a character take none.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void print_line(page& to, stack_line const& line) {
    constexpr std::size_t indent = 6;
    auto const room = to.width() * 11 / 20 - indent;
    auto const name = escaped(line.python ? line.function : symbols::short_name(line.function, room));
    auto const gap = columns(name) < room ? room - columns(name) + 1 : 1;
    bool const own = line.owner == findings::code_owner::program;
    to.line(fmt::format("{}{}{}{}", std::string(indent, ' '), to.paint(own ? ink::bold : ink::plain, name),
                        std::string(gap, ' '), to.paint(ink::dim, escaped(line.place))));
}

void print_stack(page& to, input const& in, findings::site const& site) {
    for (auto const& entry : stack_entries(in, site)) {
        if (entry.line)
            print_line(to, *entry.line);
        else
            to.line(to.paint(ink::dim, "      " + escaped(entry.instead)));
    }
}

void print_site(page& to, input const& in, findings::site const& site) {
    if (!site.call.event) return;
    to.wrapped(escaped(fmt::format("{}: {}{}{}", findings::site_head(site), site.entry_point,
                                   site.note.empty() ? "" : ", ", site.note)),
               4, {}, ink::plain, 4);
    print_stack(to, in, site);
}

// --- findings ------------------------------------------------------------------------------------------------------

void print_finding(page& to, input const& in, findings::finding const& f, std::size_t number) {
    auto const head = fmt::format("{}. {}", number, name_of(f.severity));
    to.line(fmt::format("{}  {}  {}", to.paint(ink_of(f.severity), head), to.paint(ink::bold, info(f.rule).name),
                        to.paint(ink::dim, fmt::format("({}, {}{})", name_of(f.confidence), f.fingerprint,
                                                       in.outcome.baseline ? ", new" : ""))));
    to.wrapped(escaped(f.title), 2, "", ink::plain);
    to.line();
    bool first = true;
    for (auto const& sentence : f.what) {
        to.wrapped(escaped(sentence), body, first ? "What" : "");
        first = false;
    }
    if (f.processes > 1) to.wrapped(fmt::format("The same in {} processes.", f.processes), body);
    first = true;
    for (auto const& holder : f.holders) {
        to.wrapped(escaped(holder), body, first ? "Held by" : "");
        first = false;
    }
    if (!f.sites.empty()) to.line(fmt::format("  {}", to.paint(ink::bold, "Where")));
    for (auto const& site : f.sites) print_site(to, in, site);
    to.wrapped(escaped(f.why), body, "Why");
    to.wrapped(escaped(f.advice), body, "To do");
    to.wrapped(escaped(fmt::format("{}: {}.", name_of(f.confidence), f.confidence_reason)), body, "Sure");
    first = true;
    for (auto const& c : f.consequences) {
        to.wrapped(escaped(c.text + "."), body, first ? "Also" : "");
        first = false;
        for (auto const& site : c.sites) print_site(to, in, site);
    }
    to.line();
}

// --- what stands around them -----------------------------------------------------------------------------------------

void print_head(page& to, input const& in) {
    to.line(escaped(fmt::format("lastref report: {}", in.trace.path())));
    for (auto const id : in.what.used_driver) {
        auto const& p = in.trace.at(id);
        to.line(
            escaped(fmt::format("  {}: {}{}", findings::process_name(p), findings::how_it_ended(p), after_text(p))));
    }
    std::uint64_t calls = 0;
    for (auto const& [name, count] : in.what.calls) calls += count;
    std::uint64_t callbacks = 0;
    for (auto const& [name, count] : in.what.callbacks) callbacks += name.starts_with("callback:") ? count : 0;
    to.line(fmt::format("  {} and {} recorded", counted(calls, "driver call"), counted(callbacks, "callback")));
    if (auto const audited = findings::sum_audit(in.trace); audited.entry_points)
        to.wrapped(escaped(findings::audit_text(audited)), 2, "", ink::plain);
    for (auto const& sentence : findings::pending_call_sentences(in.trace, in.what.pending))
        to.wrapped(escaped(sentence), 2, "", ink::plain);
    to.line();
}

void print_losses(page& to, input const& in) {
    if (!in.what.incomplete.empty()) {
        to.line(to.paint(ink::red, "INCOMPLETE: something may be missing from this report"));
        for (auto const& reason : in.what.incomplete) to.wrapped(escaped(reason), 4, "-", ink::plain);
        to.line();
    }
    bool head = false;
    for (auto const& loss : in.what.losses) {
        if (loss.count == 0 || loss.hides) continue;
        if (!head) to.line("Cut short, without hiding a finding:");
        head = true;
        to.wrapped(escaped(fmt::format("{}: {}", counted(loss.count), loss.text)), 4, "-", ink::plain);
    }
    if (in.what.unseen_releases > 0)
        to.wrapped(fmt::format("{} released by calls that were not recorded: their handles were handed out again.",
                               counted(in.what.unseen_releases, "object")),
                   4, "-", ink::plain);
    std::string names;
    for (auto const& each : in.trace.unhooked_entries()) names += (names.empty() ? "" : ", ") + each.name;
    if (!names.empty()) to.wrapped(escaped("Entry points that lastref does not record: " + names), 4, "-", ink::plain);
    for (auto const& note : in.trace.notes()) to.wrapped(escaped(note.text), 4, "-", ink::plain);
    if (head || in.what.unseen_releases > 0 || !names.empty() || !in.trace.notes().empty()) to.line();
}

// --- what the gate made of it
// ------------------------------------------------------------------------------------------

std::string in_short(std::string_view rule, std::string_view title, std::string_view place) {
    return fmt::format("{}: {}{}{}", rule, title, place.empty() ? "" : ", in ", place);
}

void print_known(page& to, input const& in) {
    auto const known = those(in, gate::state::known);
    if (known.empty()) return;
    to.line(fmt::format("Known from {}:", escaped(in.outcome.baseline->path)));
    for (auto const i : known) {
        auto const& f = in.what.found[i];
        to.wrapped(escaped(in_short(info(f.rule).name, f.title, gate::place_of(f, in.trace, in.stacks).text())), 4, "-",
                   ink::plain);
    }
    to.line();
}

void print_gone(page& to, input const& in) {
    if (in.outcome.baseline && !in.outcome.baseline->complete)
        to.wrapped(
            escaped(fmt::format("The trace of {} was incomplete: what seems new may only have been missed in it.",
                                in.outcome.baseline->path)),
            2, "", ink::plain);
    if (!in.outcome.baseline || in.outcome.baseline->gone.empty()) return;
    auto const& baseline = *in.outcome.baseline;
    to.line(fmt::format("No longer there, or not found in this trace (from {}):", escaped(baseline.path)));
    for (auto const& f : baseline.gone) to.wrapped(escaped(in_short(f.rule, f.title, f.place)), 4, "-", ink::plain);
    to.line();
}

void print_suppressions(page& to, input const& in) {
    auto const& all = in.outcome.suppressions;
    if (all.empty()) return;
    to.line(fmt::format("Suppressed: {}", counted(in.outcome.suppressed(), "finding")));
    for (auto const& s : all) {
        auto const line = fmt::format("{} by {} ({}:{})", s.matches, s.what.text, s.what.file, s.what.line);
        to.wrapped(escaped(line) + (s.matches == 0 ? ": stale, nothing matches it any more" : ""), 4, "-", ink::plain);
    }
    to.line();
}

std::string amount(findings::range_share const& share) {
    auto const count = counted(static_cast<std::int64_t>(share.count));
    return share.bytes == 0 ? count : fmt::format("{}, {}", count, findings::bytes_text(share.bytes));
}

void print_ranges(page& to, input const& in) {
    auto const left = left_by_range(in);
    to.line(fmt::format("By range: {} of {} left something", left.size(), counted(in.trace.ranges().size(), "range")));
    for (auto const& each : left) {
        to.wrapped(escaped(in.trace.ranges()[each.range].name), 4, "-", ink::bold);
        for (auto const& share : each.shares) {
            auto const& f = in.what.found[share.finding];
            auto const place = gate::place_of(f, in.trace, in.stacks).text();
            to.wrapped(escaped(fmt::format("{} {} ({}){}{}", name_of(f.severity), info(f.rule).name, amount(share),
                                           place.empty() ? "" : " in ", place)),
                       6, {}, ink::plain, 2);
        }
    }
    to.line();
}

void print_reasons(page& to, input const& in) {
    for (auto const& reason : in.outcome.reasons) to.line(to.paint(ink::red, "Fails: " + escaped(reason)));
}

void print_verdict(page& to, input const& in) {
    auto const& ledger = in.what.ledger;
    auto const checked = ledger.predicted + ledger.unexpected;
    if (checked > 0)
        to.line(fmt::format("Ledger of references: {} of {} ran as predicted.",
                            counted(static_cast<std::int64_t>(ledger.agreed)), counted(checked, "destructor")));
    print_reasons(to, in);
    auto const state = in.what.incomplete.empty() ? "the trace is complete" : "the trace is INCOMPLETE";
    auto const reached = in.outcome.reached;
    auto const colour = reached == gate::verdict::clean      ? ink::green
                        : reached == gate::verdict::findings ? ink::red
                                                             : ink::yellow;
    to.line(to.paint(colour, fmt::format("Verdict: {}; {}.", counts_text(in), state)));
}

}  // namespace

std::string counts_text(input const& in) {
    std::string out;
    for (auto const s : {findings::severity::error, findings::severity::warning, findings::severity::note}) {
        std::uint64_t count = 0;
        for (auto const i : those(in, gate::state::open)) count += in.what.found[i].severity == s ? 1 : 0;
        if (count == 0) continue;
        out += (out.empty() ? "" : ", ") + counted(count, name_of(s));
    }
    auto const nothing = in.outcome.baseline ? "nothing new found" : "nothing found";
    return out.empty() ? nothing : out;
}

std::string finding_text(input const& in, std::size_t finding, std::size_t number, style const& how) {
    page to(how);
    print_finding(to, in, in.what.found[finding], number);
    return to.take();
}

std::string render_text(input const& in, style const& how) {
    page to(how);
    print_head(to, in);
    print_losses(to, in);
    auto const open = those(in, gate::state::open);
    for (std::size_t i = 0; i < open.size() && i < most_findings; ++i)
        print_finding(to, in, in.what.found[open[i]], i + 1);
    if (open.size() > most_findings) {
        to.line(fmt::format("{} more, of less weight; --format json has them all.",
                            counted(open.size() - most_findings, "finding")));
        to.line();
    }
    print_known(to, in);
    print_gone(to, in);
    print_suppressions(to, in);
    if (how.by_range) print_ranges(to, in);
    print_verdict(to, in);
    return to.take();
}

}  // namespace lastref::report
