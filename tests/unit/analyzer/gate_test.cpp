// What makes a report fail: thresholds, limits, suppressions, baselines.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analyzer/findings/fingerprint.h"
#include "analyzer/gate/difference.h"
#include "analyzer/gate/gate.h"
#include "analyzer/gate/pattern.h"
#include "analyzer/gate/place.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::gate {
namespace {

using findings::rule;
using findings::severity;

findings::finding of(rule r, severity s, std::uint64_t bytes = 0, std::uint64_t count = 1) {
    findings::finding f;
    f.rule = r;
    f.severity = s;
    f.bytes = bytes;
    f.count = count;
    return f;
}

// --- thresholds and limits -------------------------------------------------------------------------------------------

TEST(fail_on, by_severity) {
    auto const warning = of(rule::allocation_leak, severity::warning);
    EXPECT_TRUE(parse_fail_on("warning").matches(warning));
    EXPECT_TRUE(parse_fail_on("note").matches(warning));
    EXPECT_FALSE(parse_fail_on("error").matches(warning));
    EXPECT_FALSE(parse_fail_on("none").matches(warning));
    EXPECT_TRUE(parse_fail_on("warning,error").matches(warning)) << "the lowest of several counts";
    EXPECT_TRUE(parse_fail_on("error,warning").matches(warning));
}

TEST(fail_on, by_rule) {
    auto const both = parse_fail_on("failed-free,allocation-leak");
    EXPECT_TRUE(both.matches(of(rule::allocation_leak, severity::note)));
    EXPECT_FALSE(both.matches(of(rule::user_object_leak, severity::error)));
    auto const mixed = parse_fail_on("error,allocation-leak");
    EXPECT_TRUE(mixed.matches(of(rule::user_object_leak, severity::error)));
    EXPECT_FALSE(mixed.matches(of(rule::user_object_leak, severity::warning)));
}

TEST(fail_on, wrong_names_are_answered_with_the_right_ones) {
    for (auto const* text : {"errors", "", "error,", "failed_free"}) {
        try {
            parse_fail_on(text);
            ADD_FAILURE() << text;
        } catch (std::invalid_argument const& e) {
            EXPECT_NE(std::string(e.what()).find("user-object-leak"), std::string::npos) << e.what();
        }
    }
}

TEST(fail_on, is_written_as_it_is_read) {
    for (auto const* text : {"error", "warning", "note", "none", "failed-free", "error,failed-free,allocation-leak"})
        EXPECT_EQ(text_of(parse_fail_on(text)), text);
}

TEST(bytes, with_units) {
    EXPECT_EQ(parse_bytes("0", "--x"), 0u);
    EXPECT_EQ(parse_bytes("4096", "--x"), 4096u);
    EXPECT_EQ(parse_bytes("64K", "--x"), 64u << 10);
    EXPECT_EQ(parse_bytes("10 MiB", "--x"), 10u << 20);
    EXPECT_EQ(parse_bytes("1.5GB", "--x"), 3u << 29);
    for (auto const* wrong : {"", "-1", "K", "1X", "1KK", "ten", "1e9", "99999999T", "nan", "inf"})
        EXPECT_THROW(parse_bytes(wrong, "--x"), std::invalid_argument) << wrong;
}

class gate_of : public ::testing::Test {
  protected:
    gate_of() {
        main.call("cuCtxGetCurrent");
        names = t.names();
        trace.emplace(store::trace::open(t.finish()));
        stacks.emplace(*trace, *names);
    }
    outcome judged(conditions const& c, std::optional<baseline> const& known = {}) {
        return judge(what, *trace, *stacks, c, {}, known);
    }

    test::trace_builder t;
    test::thread_builder main = t.thread("main");
    std::unique_ptr<symbols::source> names;
    std::optional<store::trace> trace;
    std::optional<findings::stacks> stacks;
    findings::analysis what;
};

TEST_F(gate_of, findings_come_before_incompleteness) {
    EXPECT_EQ(judged({}).reached, verdict::clean);
    what.incomplete.push_back("something");
    EXPECT_EQ(judged({}).reached, verdict::incomplete);
    what.found.push_back(of(rule::failed_free, severity::note));
    EXPECT_EQ(judged({}).reached, verdict::incomplete);
    what.found.push_back(of(rule::failed_free, severity::error));
    EXPECT_EQ(judged({}).reached, verdict::findings);
}

TEST_F(gate_of, limits_hold_whatever_the_threshold) {
    conditions c{parse_fail_on("none"), 100, 2, false};
    what.found = {of(rule::allocation_leak, severity::warning, 60), of(rule::failed_free, severity::error, 40)};
    EXPECT_EQ(judged(c).reached, verdict::clean) << "at the limits";
    what.found[0].bytes = 61;
    EXPECT_EQ(judged(c).reached, verdict::findings);
    what.found[0].bytes = 0;
    what.found[0].count = 2;
    EXPECT_EQ(judged(c).reached, verdict::findings);
    EXPECT_EQ(judged(c).reasons.size(), 1u);
}

TEST_F(gate_of, limits_are_of_what_was_lost) {
    what.found = {of(rule::allocation_leak, severity::note, 1000), of(rule::shutdown_release, severity::error, 1000),
                  of(rule::user_object_leak, severity::warning, 10, 3)};
    auto const lost = judged({}).lost;
    EXPECT_EQ(lost.bytes, 10u);
    EXPECT_EQ(lost.objects, 3u);
}

// --- baseline --------------------------------------------------------------------------------------------------------

constexpr auto report = R"({"trace": {"complete": true, "calls": {"cuInit": 1}}, "findings": [
  {"rule": "failed-free", "severity": "error", "title": "old", "count": 1, "bytes": 2, "fingerprint": "aa"}],
  "suppressed": [
  {"rule": "allocation-leak", "severity": "warning", "title": "gone", "count": 3, "bytes": 4, "fingerprint": "bb"}]})";

TEST_F(gate_of, only_what_is_new_counts) {
    auto const known = parse_baseline(report, "base.json");
    what.found = {of(rule::failed_free, severity::error, 5)};
    what.found[0].fingerprint = "aa";
    auto o = judged({}, known);
    EXPECT_EQ(o.reached, verdict::clean);
    EXPECT_EQ(o.of(0), state::known);
    ASSERT_EQ(o.baseline->gone.size(), 1u);
    EXPECT_EQ(o.baseline->gone[0].title, "gone");
    EXPECT_EQ(judged({parse_fail_on("error"), 4, {}, false}, known).reached, verdict::findings)
        << "a limit catches known findings that grow";
    what.found.push_back(of(rule::failed_free, severity::error));
    what.found[1].fingerprint = "cc";
    o = judged({}, known);
    EXPECT_EQ(o.reached, verdict::findings);
    EXPECT_EQ(o.of(1), state::open);
    EXPECT_EQ(o.baseline->fresh, 1u);
}

TEST_F(gate_of, a_baseline_makes_no_incomplete_trace_complete) {
    what.incomplete.push_back("something");
    EXPECT_EQ(judged({}, parse_baseline(report, "base.json")).reached, verdict::incomplete);
}

std::string refusal(std::string const& json) {
    try {
        parse_baseline(json, "b.json");
    } catch (input_error const& e) {
        return e.what();
    }
    return "accepted";
}

TEST(baseline_file, mistakes_have_line_and_column) {
    EXPECT_TRUE(refusal("{\"findings\": [\n  {,}]}").starts_with("b.json:2:4: not JSON"))
        << refusal("{\"findings\": [\n  {,}]}");
    EXPECT_TRUE(refusal("").starts_with("b.json:1:1: ")) << refusal("");
    EXPECT_TRUE(refusal("{\"findings\": [").starts_with("b.json:1:1")) << refusal("{\"findings\": [");
    EXPECT_TRUE(refusal("[]").starts_with("b.json:1:1: no report")) << refusal("[]");
    EXPECT_TRUE(refusal("{\"findings\": {}}").starts_with("b.json:1:1: no report"));
    std::string const broken =
        "{\"findings\": [\n {\"fingerprint\": \"a\", \"rule\": \"r\", \"severity\": \"note\", \"title\": \"t\", "
        "\"count\": 1, \"bytes\": 1},\n   {\"fingerprint\": 7}]}";
    EXPECT_EQ(refusal(broken), "b.json:3:4: findings[1] has no sound \"fingerprint\"");
    EXPECT_EQ(refusal("{\"findings\": [\n7]}"), "b.json:1:1: findings[0] has no sound \"fingerprint\"");
    EXPECT_EQ(refusal(report), "accepted");
}

TEST(difference, what_came_what_went_and_what_changed) {
    baseline before{"a",
                    true,
                    {{"1", "failed-free", "error", "t", "", 1, 10},
                     {"2", "allocation-leak", "note", "t", "", 2, 20},
                     {"3", "allocation-leak", "note", "t", "", 1, 1}}};
    baseline after{"b",
                   true,
                   {{"2", "allocation-leak", "note", "t", "", 2, 25},
                    {"3", "allocation-leak", "note", "t", "", 1, 1},
                    {"4", "allocation-leak", "note", "t", "", 5, 50}}};
    auto const d = compare(before, after);
    ASSERT_EQ(d.came.size(), 1u);
    EXPECT_EQ(d.came[0].fingerprint, "4");
    ASSERT_EQ(d.went.size(), 1u);
    EXPECT_EQ(d.went[0].fingerprint, "1");
    ASSERT_EQ(d.changed.size(), 1u);
    EXPECT_EQ(d.changed[0].before.bytes, 20u);
    EXPECT_EQ(d.changed[0].after.bytes, 25u);
    EXPECT_EQ(d.unchanged.size(), 1u);
    auto const& leaks = d.rules.at("allocation-leak");
    EXPECT_EQ(leaks.count_before, 3u);
    EXPECT_EQ(leaks.count_after, 8u);
    EXPECT_EQ(leaks.bytes_after, 76u);
}

// --- patterns and suppressions ---------------------------------------------------------------------------------------

TEST(pattern, is_found_anywhere_unless_anchored) {
    EXPECT_TRUE(matches("free", "cuMemFree free"));
    EXPECT_FALSE(matches("free", "cuMemFREE"));
    EXPECT_TRUE(matches("a*c", "xabcx"));
    EXPECT_TRUE(matches("a*b*c", "x a x b x c x"));
    EXPECT_FALSE(matches("a*b*c", "x a x c x b"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*", "anything"));
    EXPECT_TRUE(matches("^f", "free"));
    EXPECT_FALSE(matches("^r", "free"));
    EXPECT_TRUE(matches("e$", "free"));
    EXPECT_FALSE(matches("f$", "free"));
    EXPECT_TRUE(matches("^free$", "free"));
    EXPECT_FALSE(matches("^fre$", "free"));
    EXPECT_TRUE(matches("^f*e$", "free"));
    EXPECT_TRUE(matches("f*ee$", "xfxfree"));
    EXPECT_TRUE(matches("ab*b$", "abab"));
    EXPECT_FALSE(matches("ab*b$", "ab"));
    EXPECT_TRUE(matches("^ab*", "ab"));
    EXPECT_FALSE(matches("^a*bc", "xabc"));
}

TEST(pattern, many_stars_take_no_time) {
    std::string pattern = "^", text(20000, 'a');
    for (int i = 0; i < 50; ++i) pattern += "a*";
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(matches(pattern + "b$", text));
    EXPECT_FALSE(matches(pattern.substr(1) + "b", text));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

std::string suppression_refusal(std::string const& text) {
    try {
        parse_suppressions(text, "s.txt");
    } catch (input_error const& e) {
        return e.what();
    }
    return "accepted";
}

TEST(suppression_file, comments_and_blank_lines) {
    auto const all = parse_suppressions("# why\n\n  allocation-leak: f* \r\n*:lib.so", "s.txt");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].rule, rule::allocation_leak);
    EXPECT_EQ(all[0].pattern, "f*");
    EXPECT_EQ(all[0].line, 3u);
    EXPECT_FALSE(all[1].rule);
    EXPECT_EQ(all[1].pattern, "lib.so");
}

TEST(suppression_file, mistakes_have_line_and_column) {
    EXPECT_TRUE(suppression_refusal("# x\nno colon here").starts_with("s.txt:2:1: no colon"));
    EXPECT_TRUE(suppression_refusal("\n  leak:f").starts_with("s.txt:2:3: there is no rule \"leak\""));
    EXPECT_TRUE(suppression_refusal("failed-free: ").starts_with("s.txt:1:13: an empty pattern"))
        << suppression_refusal("failed-free: ");
    EXPECT_TRUE(suppression_refusal("failed-free:^$").starts_with("s.txt:1:13: an empty pattern"));
    EXPECT_TRUE(suppression_refusal(std::string("*:a\0b", 5)).starts_with("s.txt:1:4: a control character"));
    EXPECT_TRUE(suppression_refusal("*:\x1b[2J").starts_with("s.txt:1:3: a control character"));
}

// A trace with a leak, and the whole way from file to verdict.
class suppressed_trace : public ::testing::Test {
  protected:
    void read() {
        names = t.names();
        trace.emplace(store::trace::open(t.finish()));
        what = detectors::analyse(*trace);
        stacks.emplace(*trace, *names);
        findings::give_fingerprints(what, *trace, *stacks);
    }
    outcome with(std::string const& text, bool fail_on_stale = false) {
        if (!trace) read();
        conditions c;
        c.stale_suppressions = fail_on_stale;
        return judge(what, *trace, *stacks, c, parse_suppressions(text, "s.txt"), {});
    }

    test::trace_builder t;
    test::thread_builder main = t.thread("main").use(t.context());
    std::unique_ptr<symbols::source> names;
    std::optional<store::trace> trace;
    std::optional<findings::stacks> stacks;
    findings::analysis what;
};

TEST_F(suppressed_trace, by_any_name) {
    main.call("cuCtxGetCurrent");
    t.thread("pump").use(1).call("cuMemAlloc_v2",
                                 {.object = 0x1000, .size = 64, .stack = {"inner", "libx.so!middle", "outer", "main"}});
    EXPECT_EQ(with("").reached, verdict::findings);
    for (auto const* line :
         {"allocation-leak:inner", "allocation-leak:^outer$", "*:outer.cpp", "*:libx.so", "*:^pump$", "*:*"}) {
        auto const o = with(line);
        EXPECT_EQ(o.reached, verdict::clean) << line;
        EXPECT_EQ(o.suppressions[0].matches, 1u) << line;
        EXPECT_EQ(o.suppressed(), 1u);
    }
    for (auto const* line : {"failed-free:inner", "allocation-leak:other", "*:^oute$"}) {
        auto const o = with(line);
        EXPECT_EQ(o.reached, verdict::findings) << line;
        EXPECT_EQ(o.stale(), 1u) << line;
    }
    EXPECT_EQ(with("*:" + what.found[0].fingerprint).reached, verdict::clean);
}

TEST_F(suppressed_trace, stale_entries_fail_where_asked_for) {
    main.call("cuCtxGetCurrent");
    EXPECT_EQ(with("*:gone").reached, verdict::clean);
    EXPECT_EQ(with("*:gone", true).reached, verdict::findings);
    what.incomplete.push_back("something");
    EXPECT_EQ(with("*:gone", true).reached, verdict::incomplete) << "it may match what is missing";
}

TEST_F(suppressed_trace, suppressing_everything_makes_no_incomplete_trace_clean) {
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    t.loss("records_dropped", 1);
    EXPECT_EQ(with("*:*").reached, verdict::incomplete);
}

TEST_F(suppressed_trace, what_is_written_covers_what_was_found) {
    main.call("cuMemAlloc_v2",
              {.object = 0x1000, .size = 64, .stack = {"a::f(int*)::{lambda()#1}::operator()()", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64, .stack = {"evil\n*:*\x1b", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x3000, .size = 64});
    read();
    ASSERT_EQ(what.found.size(), 3u);
    std::vector<std::size_t> all{0, 1, 2};
    auto const text = written_suppressions(what, all, *trace, *stacks);
    EXPECT_EQ(parse_suppressions(text, "w").size(), 3u) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    auto const o = with(text, true);
    EXPECT_EQ(o.reached, verdict::clean) << text;
    for (auto const& s : o.suppressions) EXPECT_EQ(s.matches, 1u) << s.what.text;
}

// --- fingerprints ----------------------------------------------------------------------------------------------------

TEST(lasting_name, of_what_compilers_number) {
    using findings::lasting_name;
    EXPECT_EQ(lasting_name("f(int)"), "f");
    EXPECT_EQ(lasting_name("ns::f(std::vector<int>, char*) const"), "ns::f");
    EXPECT_EQ(lasting_name("f(int)::{lambda(char)#2}::operator()(char) const [clone .cold]"),
              "f::{lambda}::operator()");
    EXPECT_EQ(lasting_name("f()::{lambda()#1}::operator()() const"),
              lasting_name("f()::{lambda()#7}::operator()() const"));
    EXPECT_EQ(lasting_name("f()::$_0::operator()() const"), "f::{lambda}::operator()");
    EXPECT_EQ(lasting_name("(anonymous namespace)::g()"), "(anonymous namespace)::g");
    EXPECT_EQ(lasting_name("f[abi:cxx11](int)"), "f");
    EXPECT_EQ(lasting_name("f.constprop.0"), "f");
    EXPECT_EQ(lasting_name("h<int>::m()"), "h<int>::m");
    EXPECT_NE(lasting_name("h<int>::m()"), lasting_name("h<char>::m()"));
    EXPECT_EQ(lasting_name("f(("), "f");
    EXPECT_EQ(lasting_name("{lambda"), "{lambda");
    EXPECT_EQ(lasting_name(""), "");
}

TEST(lasting_file, loses_version_and_folder) {
    using findings::lasting_file;
    EXPECT_EQ(lasting_file("/opt/cuda/lib64/libcudart.so.13.0.48"), "libcudart.so");
    EXPECT_EQ(lasting_file("/usr/bin/python3.11"), "python3");
    EXPECT_EQ(lasting_file("/usr/lib/libpython3.12.so.1.0"), "libpython3.so");
    EXPECT_EQ(lasting_file("demo"), "demo");
}

// Fingerprints of one program's findings after `change` has been made to it.
std::vector<std::string> fingerprints(std::function<void(test::trace_builder&, test::thread_builder&)> const& program) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    program(t, main);
    auto const names = t.names();
    auto const trace = store::trace::open(t.finish());
    auto what = detectors::analyse(trace);
    findings::stacks stacks(trace, *names);
    findings::give_fingerprints(what, trace, stacks);
    std::vector<std::string> out;
    for (auto const& f : what.found) out.push_back(f.fingerprint);
    std::sort(out.begin(), out.end());
    return out;
}

test::call leak(std::uint64_t object, std::vector<std::string> stack) {
    return {.object = object, .size = 64, .stack = std::move(stack)};
}

TEST(fingerprint, survives_what_a_rebuild_and_another_run_change) {
    auto const before = fingerprints([](auto&, auto& main) {
        main.call("cuMemAlloc_v2", leak(0x1000, {"libcudart.so.13!cudaMalloc", "a(int)", "main"}));
    });
    ASSERT_EQ(before.size(), 1u);
    auto const after = fingerprints([](auto& t, auto& main) {
        t.wait_ms(100);
        main.call("cuMemAlloc_v2", leak(0x1, {"other", "main"}));  // moves the offsets of all that follow
        main.call("cuMemFree_v2", {.object = 0x1});
        for (std::uint64_t i = 0; i < 3; ++i)  // more objects, of another size and handle
            main.call("cuMemAlloc_v2",
                      {.object = 0x9000 + i, .size = 4096, .stack = {"libcudart.so.12!cudaMalloc", "a(long)", "main"}});
    });
    EXPECT_EQ(before, after);
}

TEST(fingerprint, tells_places_and_rules_apart) {
    auto const all = fingerprints([](auto&, auto& main) {
        main.call("cuMemAlloc_v2", leak(0x1000, {"a", "main"}));
        main.call("cuMemAlloc_v2", leak(0x2000, {"b", "main"}));
        main.call("cuMemAlloc_v2", leak(0x3000, {"a", "b", "main"}));
        main.call("cuMemHostAlloc", leak(0x4000, {"a", "main"}));
        main.call("cuMemAlloc_v2", leak(0x5000, {"a.part.0", "main"}));  // alike: told apart by their order
    });
    EXPECT_EQ(all.size(), 5u);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 5u);
}

TEST(fingerprint, recursion_of_any_depth_is_one) {
    auto const once = fingerprints([](auto&, auto& main) {
        main.call("cuMemAlloc_v2", leak(0x1000, {"a", "r", "main"}));
    });
    auto const deep = fingerprints([](auto&, auto& main) {
        main.call("cuMemAlloc_v2", leak(0x1000, {"a", "r", "r", "r", "main"}));
    });
    EXPECT_EQ(once, deep);
}

}  // namespace
}  // namespace lastref::gate
