// JUnit XML, as CI servers read it: one test case a rule, and one for the trace itself.
#include "analyzer/findings/wording.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"

#include <fmt/core.h>

namespace lastref::report {
namespace {

using findings::counted;

struct test_case {
    std::string name;
    std::string element;  // "failure" or "error"; empty: passed
    std::string message;
    std::string type;
    std::string body;  // of the element, or what a passed case has to say; lines are kept
    std::string of = "lastref";
    store::time_ns took = 0;
};

// Lines of text, each escaped for XML.
std::string xml_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        auto const end = text.find('\n');
        out += xml_escaped(text.substr(0, end)) + "\n";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

// What a rule found, for or against it.
struct share_of_rule {
    std::uint64_t failing = 0;
    findings::severity worst = findings::severity::note;
    std::string failures, others;
};

void add(share_of_rule& to, input const& in, std::size_t i) {
    auto const& f = in.what.found[i];
    auto const state = in.outcome.of(i);
    bool const fails = state == gate::state::open && in.outcome.conditions.threshold.matches(f);
    if (fails) {
        to.worst = std::max(to.worst, f.severity);
        to.failures += finding_text(in, i, ++to.failing, {});
        return;
    }
    auto const why = state == gate::state::known        ? "known from the baseline"
                     : state == gate::state::suppressed ? "suppressed"
                                                        : "below --fail-on";
    to.others += fmt::format("{}: {} ({})\n", name_of(f.severity), escaped(f.title), why);
}

test_case case_of(input const& in, findings::rule rule) {
    share_of_rule share;
    for (std::size_t i = 0; i < in.what.found.size(); ++i)
        if (in.what.found[i].rule == rule) add(share, in, i);
    auto const name = std::string(info(rule).name);
    if (share.failing == 0) return {name, "", "", "", share.others};
    return {name, "failure", fmt::format("{}. {}", counted(share.failing, "finding"), info(rule).summary),
            std::string(name_of(share.worst)), share.failures + share.others};
}

test_case case_of_completeness(input const& in) {
    if (in.what.incomplete.empty()) return {"complete-trace", "", "", "", ""};
    std::string reasons;
    for (auto const& reason : in.what.incomplete) reasons += reason + "\n";
    return {"complete-trace", "error", "The trace is incomplete: something may be missing from this report",
            "incomplete", reasons};
}

// Limits and stale suppressions: what fails without being a finding of its own.
test_case case_of_conditions(input const& in) {
    std::string reasons, first;
    for (std::size_t i = in.outcome.failing > 0 ? 1 : 0; i < in.outcome.reasons.size(); ++i) {
        if (first.empty()) first = in.outcome.reasons[i];
        reasons += in.outcome.reasons[i] + "\n";
    }
    if (reasons.empty()) return {"limits", "", "", "", ""};
    return {"limits", "failure", first, "limit", reasons};
}

// One for each range of the program, such as a test.
test_case case_of_range(input const& in, std::size_t range, findings::range_summary const* left) {
    auto const& of = in.trace.ranges()[range];
    test_case out{of.name, "", "", "", "", "lastref.ranges"};
    if (of.end && *of.end > of.begin && of.begin >= 0) out.took = *of.end - of.begin;
    if (left == nullptr) return out;
    for (auto const& share : left->shares) {
        auto const& f = in.what.found[share.finding];
        out.body += fmt::format("{} {}: {}, {} of {}\n", name_of(f.severity), info(f.rule).name, escaped(f.title),
                                share.count, f.count);
        if (in.outcome.conditions.threshold.matches(f)) out.element = "failure";
    }
    out.type = "left";
    out.message = "Left something that was never released";
    return out;
}

void add_ranges(std::vector<test_case>& cases, input const& in) {
    auto const all = left_by_range(in);
    auto left = all.begin();
    for (std::size_t i = 0; i < in.trace.ranges().size(); ++i) {
        bool const left_something = left != all.end() && left->range == i;
        cases.push_back(case_of_range(in, i, left_something ? &*left++ : nullptr));
    }
}

std::string xml_of(test_case const& c) {
    auto const head = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", c.of,
                                  xml_escaped(c.name), static_cast<double>(c.took) / 1e9);
    if (c.element.empty() && c.body.empty()) return head + "/>\n";
    if (c.element.empty())
        return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", head, xml_lines(c.body));
    return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">\n{}</{}>\n    </testcase>\n", head, c.element,
                       xml_escaped(c.type), xml_escaped(c.message), xml_lines(c.body), c.element);
}

std::string property(std::string_view name, std::string_view value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_escaped(name), xml_escaped(value));
}

std::string properties_of(input const& in) {
    std::string out = "    <properties>\n" + property("trace", in.trace.path()) +
                      property("lastref version", in.trace.version()) +
                      property("complete", in.what.incomplete.empty() ? "true" : "false") +
                      property("events", fmt::format("{}", in.what.events)) +
                      property("lost bytes", fmt::format("{}", in.outcome.lost.bytes)) +
                      property("lost objects", fmt::format("{}", in.outcome.lost.objects)) +
                      property("suppressed", fmt::format("{}", in.outcome.suppressed()));
    for (auto const& loss : in.what.losses)
        if (loss.count != 0) out += property("loss " + loss.name, fmt::format("{}", loss.count));
    return out + "    </properties>\n";
}

}  // namespace

std::string render_junit(input const& in) {
    std::vector<test_case> cases{case_of_completeness(in), case_of_conditions(in)};
    for (int i = 0; i < static_cast<int>(findings::rule::count); ++i)
        cases.push_back(case_of(in, static_cast<findings::rule>(i)));
    add_ranges(cases, in);
    std::size_t failures = 0, errors = 0;
    std::string body;
    for (auto const& c : cases) {
        failures += c.element == "failure" ? 1 : 0;
        errors += c.element == "error" ? 1 : 0;
        body += xml_of(c);
    }
    auto const counts =
        fmt::format("name=\"lastref\" tests=\"{}\" failures=\"{}\" errors=\"{}\"", cases.size(), failures, errors);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite {} skipped=\"0\">\n{}{}  "
        "</testsuite>\n"
        "</testsuites>\n",
        counts, counts, properties_of(in), body);
}

}  // namespace lastref::report
