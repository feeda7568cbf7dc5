// The formats that CI reads: whole, well formed, and safe with names that want to be markup.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/curves/curves.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"
#include "analyzer/report/rule_pages.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::report {
namespace {

using std::string_literals::operator""s;

// What a program can call itself, its threads and its functions to make a reader see something else.
std::string const nasty =
    "\x1b[31m\x9b\x07 <script>alert(1)</script> ]]> --> & \" ' `code` [x](y) @everyone | \\ \xff\xc3\xa9 "
    "\xe2\x80\xae \xef\xbf\xbf \n## heading\r\n::error::x";

class hostile : public test::trace_builder {
  public:
    hostile() {
        process("/tmp/" + nasty, 5);
        auto main = thread(nasty).use(context());
        auto other = thread(nasty).use(1);
        for (auto* each : {&main, &other})
            each->call(
                "cuMemAlloc_v2",
                {.object = 0x1000u + static_cast<std::uint64_t>(each->id()), .size = 64, .stack = {nasty, "main"}});
        other.call("cuMemFree_v2", {.object = 0x77, .result = 1, .stack = {"libevil<b>.so!" + nasty}});
        range(nasty, 0, {});
        call_names(main, other);
        note(nasty);
        loss(nasty, 3);
        ends("abrupt", {}, 9);
        sql("INSERT INTO unhooked VALUES (1, '<b>cuEvil</b>', 3)");
    }

  private:
    // All that NVTX can name, and ranges of a domain.
    void call_names(test::thread_builder& main, test::thread_builder& other) {
        main.call("cuStreamCreate", {.object = 0x50, .stack = {"make", "main"}});
        nvtx_name("stream", 0x50, "stream " + nasty);
        nvtx_name("context", 0xc0, "context " + nasty);
        nvtx_name("thread", 100, "thread " + nasty);
        nvtx_name("no such resource", 0x50, nasty);
        other.call("cuMemAllocAsync", {.stream = 0x50, .object = 0x7000, .size = 64, .stack = {"async", "main"}});
        nvtx_range(main, "pushed " + nasty, 0, {}, {.domain = "domain " + nasty, .kind = "push"});
        nvtx_range(main, "started " + nasty, 0, {}, {.domain = {}, .kind = "start"});
    }
};

class rendered {
  public:
    explicit rendered(test::trace_builder& t, std::string const& suppressions = {},
                      std::optional<gate::baseline> known = {})
        : names_(t.names()),
          trace_(store::trace::open(t.finish())),
          what_(detectors::analyse(trace_, {}, nullptr, {}, drawing())),
          stacks_(trace_, *names_) {
        findings::give_fingerprints(what_, trace_, stacks_);
        outcome_ = gate::judge(what_, trace_, stacks_, {}, gate::parse_suppressions(suppressions, "s<b>.txt"), known);
    }
    std::string as(format f) {
        return render(f, {trace_, what_, stacks_, outcome_, false, drawn_.get()}, {false, 100, true, "/src"});
    }
    findings::analysis const& what() const { return what_; }

  private:
    detectors::more_observers drawing() {
        return [this](detectors::case_file const& file) {
            auto builder = std::make_unique<curves::curves_builder>(trace_, file.links);
            auto& built = *builder;
            std::vector<detectors::more_observer> out;
            out.push_back({std::move(builder), [this, &built] { drawn_ = built.take(); }});
            return out;
        };
    }

    std::unique_ptr<symbols::source> names_;
    store::trace trace_;
    std::shared_ptr<curves::all_curves const> drawn_;
    findings::analysis what_;
    findings::stacks stacks_;
    gate::outcome outcome_;
};

gate::baseline hostile_baseline() {
    return {"base<b>.json", true, {{"0", "<i>" + nasty, "error", nasty, nasty, 1, 1}}};
}

// Without the ways that formats have to write a backslash and a bracket, and to wrap lines.
std::string plain(std::string text) {
    for (auto const& [from, to] : {std::pair{"&#92;", "\\"}, std::pair{"\\\\", "\\"}, std::pair{"&#91;", "["}})
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from))
            text.replace(at, std::strlen(from), to);
    std::string out;
    for (char const c : text)
        if (c != '\n' && (c != ' ' || !out.ends_with(' '))) out += c;
    return out;
}

constexpr std::array all_formats{format::text,  format::json,     format::sarif,
                                 format::junit, format::markdown, format::html};

TEST(every_format, names_every_format) {
    EXPECT_EQ(format_names().size(), all_formats.size());
    for (auto const& name : format_names()) EXPECT_TRUE(format_named(name));
    EXPECT_FALSE(format_named("xml"));
}

// Neither a terminal nor the direction of writing can be steered by a report in any format.
TEST(every_format, has_no_control_characters) {
    for (auto const as : all_formats) {
        hostile t;
        auto const text = rendered(t, "*:nothing<b>", hostile_baseline()).as(as);
        for (unsigned char const c : text)
            ASSERT_TRUE(c >= 0x20 || c == '\n') << static_cast<int>(as) << ": " << int{c};
        EXPECT_EQ(text.find('\x7f'), std::string::npos);
        EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << static_cast<int>(as);
        EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << static_cast<int>(as);
        EXPECT_EQ(text.find("\xef\xbf\xbf"), std::string::npos) << static_cast<int>(as);
        EXPECT_EQ(text.find('\xff'), std::string::npos) << static_cast<int>(as);
        EXPECT_EQ(text.back(), '\n');
    }
}

// What the tests above are about is in there.
TEST(every_format, has_the_names_that_the_program_gave) {
    hostile t;
    auto const json = nlohmann::json::parse(rendered(t).as(format::json));
    std::set<std::string> said;
    for (auto const& f : json["findings"])
        for (auto const& s : f["sites"]) {
            said.insert(s.value("stream_name", "").substr(0, 6));
            said.insert(s.value("context_name", "").substr(0, 7));
            for (auto const& r : s.value("ranges", nlohmann::json::array())) {
                said.insert(r["name"].get<std::string>().substr(0, 7));
                if (r["domain"].is_string()) said.insert(r["domain"].get<std::string>().substr(0, 6));
            }
        }
    for (auto const* part : {"stream", "context", "pushed ", "started", "domain"})
        EXPECT_TRUE(said.contains(part)) << part;
    for (auto const as : {format::text, format::markdown, format::sarif, format::html}) {
        hostile again;
        auto const text = rendered(again).as(as);
        for (auto const* part : {"stream \\x1b[31m", "pushed \\x1b[31m", "started \\x1b[31m", "domain \\x1b[31m"})
            EXPECT_NE(plain(text).find(part), std::string::npos) << static_cast<int>(as) << part;
    }
}

TEST(every_format, of_a_trace_without_anything) {
    for (auto const as : all_formats) {
        test::trace_builder t;
        EXPECT_FALSE(rendered(t).as(as).empty());
    }
}

// --- markup ----------------------------------------------------------------------------------------------------------

// Whether tags are balanced, attributes are quoted and every & begins an entity: enough of XML to see markup that came
// from a name. `empty` are the tags of HTML that are never closed.
void expect_well_formed(std::string const& text, std::vector<std::string> const& empty = {}) {
    std::vector<std::string> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '&') {
            auto const end = text.find(';', i);
            ASSERT_TRUE(end != std::string::npos && end - i < 8) << text.substr(i, 40);
        }
        if (text[i] != '<') continue;
        auto const end = text.find('>', i);
        ASSERT_NE(end, std::string::npos) << text.substr(i, 40);
        auto const tag = text.substr(i + 1, end - i - 1);
        ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
        ASSERT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
        if (tag[0] == '?' || tag[0] == '!' || tag.ends_with('/')) continue;
        auto const name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" \n") - (tag[0] == '/' ? 1 : 0));
        if (std::find(empty.begin(), empty.end(), name) != empty.end()) continue;
        if (tag[0] != '/') {
            open.push_back(name);
        } else {
            ASSERT_FALSE(open.empty()) << tag;
            ASSERT_EQ(open.back(), name) << text.substr(i, 60);
            open.pop_back();
        }
    }
    EXPECT_TRUE(open.empty());
}

TEST(junit_report, is_well_formed_with_hostile_names) {
    hostile t;
    auto const text = rendered(t, "*:nothing<b>", hostile_baseline()).as(format::junit);
    expect_well_formed(text);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_EQ(text.find("]]>"), std::string::npos);
}

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t out = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
    return out;
}

TEST(junit_report, has_a_case_for_each_rule_and_one_for_the_trace) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    auto const text = rendered(t).as(format::junit);
    auto const cases = static_cast<std::size_t>(findings::rule::count) + 2;
    EXPECT_EQ(count(text, "<testcase "), cases);
    EXPECT_NE(text.find("tests=\"" + std::to_string(cases) + "\" failures=\"1\" errors=\"0\""), std::string::npos)
        << text;
    EXPECT_EQ(count(text, "<failure "), 1u);
    EXPECT_NE(text.find("<failure type=\"warning\" message=\"1 finding. "), std::string::npos) << text;
}

TEST(junit_report, an_incomplete_trace_is_an_error) {
    test::trace_builder t;
    t.thread("main").call("cuCtxGetCurrent");
    t.loss("records_dropped", 7);
    auto const text = rendered(t).as(format::junit);
    EXPECT_NE(text.find("failures=\"0\" errors=\"1\""), std::string::npos) << text;
    EXPECT_NE(text.find("<error type=\"incomplete\""), std::string::npos);
    EXPECT_NE(text.find("name=\"loss records_dropped\" value=\"7\""), std::string::npos);
}

TEST(junit_report, suppressed_findings_pass) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    auto const text = rendered(t, "*:^f$").as(format::junit);
    EXPECT_EQ(count(text, "<failure "), 0u) << text;
    EXPECT_NE(text.find("(suppressed)"), std::string::npos);
}

TEST(html_report, is_well_formed_with_hostile_names) {
    hostile t;
    auto const text = rendered(t, "*:nothing<b>", hostile_baseline()).as(format::html);
    auto const body = text.substr(0, text.find("<style>")) + text.substr(text.find("</style>") + 8);
    expect_well_formed(body, {"meta"});
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_EQ(text.find("<b>cuEvil"), std::string::npos);
}

TEST(html_report, needs_nothing_from_elsewhere) {
    hostile t;
    auto const text = rendered(t).as(format::html);
    for (auto const* part : {"http:", "https:", "src=", "url(", "@import", "<link", "<iframe"})
        EXPECT_EQ(text.find(part), std::string::npos) << part;
    EXPECT_NE(text.find("<svg"), std::string::npos);
    EXPECT_NE(text.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(text.find("name=\"viewport\""), std::string::npos);
    EXPECT_NE(text.find("default-src 'none'"), std::string::npos);
}

// --- memory over time ------------------------------------------------------------------------------------------------

constexpr std::uint64_t mib = 1 << 20, reserved_bytes = 5;

// Memory of a pool that comes and goes, `steps` times, with what the program read of the pool.
class pooled : public test::trace_builder {
  public:
    explicit pooled(int steps) {
        auto main = thread("main").use(context()).in({"main"});
        main.call("cuMemPoolCreate", {.object = 0x99});
        for (int i = 0; i < steps; ++i) {
            main.call("cuMemAllocFromPoolAsync", {.stream = 1, .object = 0x7000, .other = 0x99, .size = 2 * mib});
            main.call("cuMemAllocFromPoolAsync", {.stream = 1, .object = 0xf0000000, .other = 0x99, .size = mib});
            if (i == 0) main.call("cuMemPoolGetAttribute", {.object = 0x99, .size = 32 * mib, .extra = reserved_bytes});
            main.call("cuMemFreeAsync", {.stream = 1, .object = 0x7000});
            main.call("cuMemFreeAsync", {.stream = 1, .object = 0xf0000000});
        }
        main.call("cuMemAllocHost_v2", {.object = 0x100, .size = 3 * mib});
        main.call("cuMemFreeHost", {.object = 0x100});
        phase("exit_begin");
        main.call("cuMemPoolDestroy", {.object = 0x99});
    }
};

std::string memory_part(std::string const& html) {
    auto const from = html.find("<h2>Memory</h2>");
    return from == std::string::npos ? "" : html.substr(from, html.find("<footer>") - from);
}

TEST(memory_charts, of_used_and_reserved_memory) {
    pooled t(1);
    auto const part = memory_part(rendered(t).as(format::html));
    EXPECT_NE(part.find("on the device, at most 3 MiB"), std::string::npos) << part;
    EXPECT_NE(part.find("on the host, pinned or registered, at most 3 MiB"), std::string::npos) << part;
    EXPECT_NE(part.find("<h3>pool 0x99</h3>"), std::string::npos) << part;
    EXPECT_NE(part.find("<i class=\"reserved\"></i>reserved, at most 32 MiB"), std::string::npos) << part;
    EXPECT_EQ(count(part, "main ended"), 2u) << part;
    EXPECT_EQ(count(part, "<path "), 3u + 3u) << "an area and two lines in each";
    // Up to 2 MiB, 3 MiB, down to 1 MiB and nothing, on an axis that ends at 32 MiB.
    EXPECT_NE(part.find("V94.0H"), std::string::npos) << part;
    EXPECT_NE(part.find("V91.0H"), std::string::npos) << part;
    EXPECT_NE(part.find("V97.0H"), std::string::npos) << part;
    EXPECT_NE(part.find("V4.0H1000"), std::string::npos) << part;
}

TEST(memory_charts, stay_small_and_keep_the_peaks) {
    pooled few(1), many(3000);
    auto const small = memory_part(rendered(few).as(format::html));
    auto const large = memory_part(rendered(many).as(format::html));
    EXPECT_LT(large.size(), 60'000u);
    EXPECT_GT(large.size(), small.size());
    EXPECT_NE(large.find("V91.0H"), std::string::npos);
    expect_well_formed(large);
}

TEST(memory_charts, are_left_out_where_nothing_was_allocated) {
    test::trace_builder t;
    t.thread("main").call("cuCtxGetCurrent");
    EXPECT_EQ(memory_part(rendered(t).as(format::html)), "");
}

TEST(markdown_report, names_are_no_markup) {
    hostile t;
    auto const text = rendered(t, "*:nothing<b>", hostile_baseline()).as(format::markdown);
    EXPECT_EQ(text.find("\n## heading"), std::string::npos);
    EXPECT_EQ(text.find("\n::error"), std::string::npos);
    // Outside of code blocks nothing of Markdown is left of them.
    std::string outside;
    bool block = false;
    for (std::size_t at = 0; at < text.size();) {
        auto const line = text.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        if (line.starts_with("```")) block = !block;
        if (!block) outside += line + "\n";
    }
    EXPECT_FALSE(block) << "every block is closed";
    for (auto const* part : {"<script", "`code`", "[x](y)", "@everyone", "| \\"})
        EXPECT_EQ(outside.find(part), std::string::npos) << part;
}

TEST(markdown_report, a_block_outlasts_its_text) {
    EXPECT_EQ(markdown_block("a\n"), "```text\na\n```\n");
    EXPECT_EQ(markdown_block("```\nout\n````"), "`````text\n```\nout\n````\n`````\n");
    EXPECT_EQ(markdown_block("\x1b"), "```text\n\\x1b\n```\n");
}

TEST(escaping, of_uris) {
    EXPECT_EQ(path_uri("/src/a b/\xc3\xa9.cpp"), "file:///src/a%20b/%C3%A9.cpp");
    EXPECT_EQ(path_uri("/src/a/b.cpp", "/src"), "a/b.cpp");
    EXPECT_EQ(path_uri("/srcs/b.cpp", "/src"), "file:///srcs/b.cpp");
    EXPECT_EQ(path_uri("b<\"\n.cpp"), "b%3C%22%0A.cpp");
    EXPECT_EQ(path_uri(""), "");
}

TEST(escaping, of_xml) {
    EXPECT_EQ(xml_escaped("<a b='c' d=\"e\">&\x01"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\\x01");
    EXPECT_EQ(xml_escaped("a\0b"s), "a\\x00b");
    EXPECT_EQ(xml_escaped("\xef\xbf\xbe"), "\\ufffe");
}

// --- SARIF -----------------------------------------------------------------------------------------------------------

nlohmann::json sarif(test::trace_builder& t, std::string const& suppressions = {},
                     std::optional<gate::baseline> known = {}) {
    return nlohmann::json::parse(rendered(t, suppressions, std::move(known)).as(format::sarif))["runs"][0];
}

TEST(sarif_report, carries_every_rule_with_its_page) {
    test::trace_builder t;
    auto const rules = sarif(t)["tool"]["driver"]["rules"];
    ASSERT_EQ(rules.size(), static_cast<std::size_t>(findings::rule::count));
    for (auto const& rule : rules) {
        EXPECT_TRUE(rule["help"]["markdown"].get<std::string>().starts_with("# " + rule["id"].get<std::string>()))
            << rule["id"];
        EXPECT_GT(rule["fullDescription"]["text"].get<std::string>().size(), 20u);
    }
}

TEST(sarif_report, result_with_places) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64, .stack = {"f", "main"}});
    auto const run = sarif(t);
    ASSERT_EQ(run["results"].size(), 1u);
    auto const& result = run["results"][0];
    EXPECT_EQ(result["ruleId"], "allocation-leak");
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"], "allocation-leak");
    EXPECT_EQ(result["level"], "warning");
    EXPECT_EQ(result["occurrenceCount"], 2);
    auto const& location = result["locations"][0];
    EXPECT_EQ(location["physicalLocation"]["artifactLocation"]["uri"], "demo/f.cpp");
    EXPECT_EQ(location["physicalLocation"]["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    EXPECT_EQ(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///src/");
    EXPECT_EQ(location["physicalLocation"]["region"]["startLine"], 10);
    EXPECT_EQ(location["logicalLocations"][0]["fullyQualifiedName"], "f");
    ASSERT_EQ(result["stacks"].size(), 1u);
    EXPECT_EQ(result["stacks"][0]["frames"][1]["location"]["logicalLocations"][0]["fullyQualifiedName"], "main");
    EXPECT_EQ(result["stacks"][0]["frames"][1]["module"], "demo");
    EXPECT_FALSE(result.contains("suppressions"));
    EXPECT_FALSE(result.contains("baselineState"));
    EXPECT_EQ(run["invocations"][0]["exitCode"], 1);
    EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
}

TEST(sarif_report, suppressions_and_baseline) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64, .stack = {"g", "main"}});
    auto const results =
        sarif(t, "allocation-leak:^f$",
              gate::baseline{"b", true, {{"77", "failed-free", "error", "gone", "", 1, 1}}})["results"];
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0]["suppressions"][0]["kind"], "external");
    EXPECT_EQ(results[1]["baselineState"], "new");
    EXPECT_FALSE(results[1].contains("suppressions"));
    EXPECT_EQ(results[2]["baselineState"], "absent");
    EXPECT_EQ(results[2]["partialFingerprints"]["lastref/v1"], "77");
}

TEST(sarif_report, an_incomplete_trace_did_not_succeed) {
    test::trace_builder t;
    t.thread("main").call("cuCtxGetCurrent");
    t.loss("records_dropped", 7);
    auto const invocation = sarif(t)["invocations"][0];
    EXPECT_EQ(invocation["executionSuccessful"], false);
    EXPECT_EQ(invocation["exitCode"], 4);
    EXPECT_FALSE(invocation["toolExecutionNotifications"].empty());
}

// --- ranges ----------------------------------------------------------------------------------------------------------

// Two tests that leave memory of one place, one that leaves none, and one that has a call refused.
class tested : public test::trace_builder {
  public:
    tested() {
        auto main = thread("main").use(context()).in({"helper", "main"});
        auto const first = main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
        range("a", first - 1, first);
        auto const second = main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64});
        main.call("cuMemAlloc_v2", {.object = 0x3000, .size = 64});
        range("b<b>", first, second + 1);
        main.call("cuMemAlloc_v2", {.object = 0x4000, .size = 64});
        auto const freed = main.call("cuMemFree_v2", {.object = 0x4000});
        range("c", second + 1, freed);
        main.call("cuMemFree_v2", {.object = 0x77, .result = 1, .stack = {"twice", "main"}});
        range("d", freed, {});
    }
};

TEST(by_range, objects_go_to_the_test_that_made_them) {
    tested t;
    auto const json = nlohmann::json::parse(rendered(t).as(format::json));
    std::map<std::string, std::pair<std::string, int>> left;
    for (auto const& each : json["by_range"]) {
        EXPECT_EQ(each["left"].size(), 1u) << each["range"];
        left[each["range"]] = {each["left"][0]["rule"], each["left"][0]["count"]};
    }
    std::map<std::string, std::pair<std::string, int>> const expected{
        {"a", {"allocation-leak", 1}}, {"b<b>", {"allocation-leak", 2}}, {"d", {"double-free", 1}}};
    EXPECT_EQ(left, expected);
}

TEST(by_range, is_a_test_case_of_its_own) {
    tested t;
    auto const text = rendered(t).as(format::junit);
    EXPECT_EQ(count(text, "classname=\"lastref.ranges\""), 4u) << text;
    auto const passed = text.find("classname=\"lastref.ranges\" name=\"c\" time=\"");
    ASSERT_NE(passed, std::string::npos) << text;
    EXPECT_EQ(text.substr(text.find('\n', passed) - 2, 2), "/>") << text;
    EXPECT_NE(text.find("failures=\"5\""), std::string::npos) << "two rules and three tests";
}

TEST(by_range, is_in_the_text) {
    tested t;
    auto const text = rendered(t).as(format::text);
    EXPECT_NE(text.find("By range: 3 of 4 ranges left something"), std::string::npos) << text;
    EXPECT_NE(text.find("warning allocation-leak (2, 128 bytes) in helper"), std::string::npos) << text;
}

TEST(by_range, what_is_suppressed_was_not_left) {
    tested t;
    auto const json = nlohmann::json::parse(rendered(t, "allocation-leak:*\n*:^d$\n").as(format::json));
    EXPECT_TRUE(json["by_range"].empty()) << json["by_range"];
    EXPECT_EQ(json["suppressed"].size(), 2u) << "a range's name suppresses, too";
}

// What a library keeps is one finding, which shows three places: tests that left something at the others, or in another
// process, are told as well.
TEST(by_range, every_place_of_a_library_counts) {
    test::trace_builder t;
    std::map<std::string, int> expected;
    for (int process = 0; process < 2; ++process) {
        if (process == 1) t.process("/build/demo", 4712);
        auto main = t.thread("main").use(t.context());
        for (int i = 0; i < 5; ++i) {
            auto const name = std::to_string(process) + "." + std::to_string(i);
            auto const size = static_cast<std::uint64_t>(64 + 10 * process + i);
            auto const id = main.call("cuMemAlloc_v2", {.object = 0x1000u * static_cast<unsigned>(i + 1),
                                                        .size = size,
                                                        .stack = {"libpool.so!at" + name, "main"}});
            t.range(name, id - 1, id);
            expected[name] = static_cast<int>(size);
        }
    }
    auto const json = nlohmann::json::parse(rendered(t).as(format::json));
    EXPECT_EQ(json["findings"].size(), 1u);
    std::map<std::string, int> left;
    for (auto const& each : json["by_range"])
        for (auto const& share : each["left"]) left[each["range"]] += share["bytes"].get<int>();
    EXPECT_EQ(left, expected);
}

TEST(by_range, nvtx_ranges_suppress_like_tests) {
    for (auto const* suppression : {"allocation-leak:^loading$", "*:^loading$", "*:outer"}) {
        test::trace_builder t;
        auto main = t.thread("main").use(t.context());
        auto const one = main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
        main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64, .stack = {"g", "main"}});
        t.nvtx_range(main, "outer one", 0, one, {.domain = "trainer", .kind = "push"});
        t.nvtx_range(main, "loading", 0, one);
        auto const json = nlohmann::json::parse(rendered(t, suppression).as(format::json));
        ASSERT_EQ(json["suppressed"].size(), 1u) << suppression;
        EXPECT_EQ(json["suppressed"][0]["sites"][0]["stack"][0]["function"], "f");
        ASSERT_EQ(json["findings"].size(), 1u) << suppression;
        EXPECT_EQ(json["findings"][0]["sites"][0]["stack"][0]["function"], "g");
    }
}

TEST(by_range, the_innermost_counts) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"f", "main"});
    auto const one = main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
    auto const two = main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64});
    auto const three = main.call("cuMemAlloc_v2", {.object = 0x3000, .size = 64});
    main.call("cuMemAlloc_v2", {.object = 0x4000, .size = 64});
    t.range("outer", one - 1, three);
    t.range("inner", one, two);
    auto const trace = store::trace::open(t.finish());
    findings::range_index const ranges(trace);
    auto const process = trace.processes().front().id;
    auto const name = [&](std::int64_t event) {
        auto const range = ranges.innermost(process, store::event_id{event});
        return range ? trace.ranges()[*range].name : "";
    };
    EXPECT_EQ(name(one), "outer");
    EXPECT_EQ(name(two), "inner");
    EXPECT_EQ(name(three), "outer");
    EXPECT_EQ(name(three + 1), "");
    EXPECT_EQ(name(0), "");
    EXPECT_EQ(ranges.names(process, store::event_id{two}).size(), 2u);
}

TEST(by_range, traces_without_the_table_have_none) {
    test::trace_builder t;
    t.thread("main").call("cuCtxGetCurrent");
    t.sql("DROP TABLE range");
    EXPECT_FALSE(nlohmann::json::parse(rendered(t).as(format::json)).contains("by_range"));
}

TEST(rule_pages, are_all_there) {
    for (int i = 0; i < static_cast<int>(findings::rule::count); ++i)
        EXPECT_FALSE(page_of(static_cast<findings::rule>(i)).empty()) << info(static_cast<findings::rule>(i)).name;
}

}  // namespace
}  // namespace lastref::report
