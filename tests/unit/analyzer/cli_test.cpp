// The commands `report` and `query` as they are typed: what they print, and with which status they end.
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/cli/commands.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::cli {
namespace {

struct result {
    int status = -1;
    std::string out;
    std::string err;
};

result run(std::vector<std::string> arguments) {
    CLI::App app("lastref");
    result r;
    add_report(app, r.status);
    add_query(app, r.status);
    std::reverse(arguments.begin(), arguments.end());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    try {
        app.parse(arguments);
    } catch (CLI::ParseError const& e) {
        r.status = exit_usage;
    }
    r.out = ::testing::internal::GetCapturedStdout();
    r.err = ::testing::internal::GetCapturedStderr();
    return r;
}

class commands : public ::testing::Test {
  protected:
    std::string path() { return path_.empty() ? path_ = t.finish().string() : path_; }
    void leak() { main.use(t.context()).call("cuMemAlloc_v2", {.object = 0x1000, .size = 64}); }
    std::string beside(char const* name) { return (std::filesystem::path(path()).parent_path() / name).string(); }
    result report(std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"report", path()});
        return run(std::move(options));
    }

    test::trace_builder t;
    test::thread_builder main = t.thread("main");

  private:
    std::string path_;
};

TEST_F(commands, clean_trace) {
    main.call("cuCtxGetCurrent");
    auto const r = report();
    EXPECT_EQ(r.status, exit_clean);
    EXPECT_NE(r.out.find("Verdict: nothing found; the trace is complete."), std::string::npos) << r.out;
    EXPECT_EQ(r.err, "");
}

TEST_F(commands, findings_by_threshold) {
    leak();
    EXPECT_EQ(report().status, exit_findings);
    EXPECT_EQ(report({"--fail-on", "error"}).status, exit_clean);
    EXPECT_EQ(report({"--fail-on", "allocation-leak"}).status, exit_findings);
    EXPECT_EQ(report({"--fail-on=none"}).status, exit_clean);
}

TEST_F(commands, incomplete_trace_never_passes) {
    main.call("cuCtxGetCurrent");
    t.loss("records_dropped", 1);
    EXPECT_EQ(report().status, exit_incomplete);
    EXPECT_EQ(report({"--fail-on", "none"}).status, exit_incomplete);
    EXPECT_NE(report().out.find("INCOMPLETE"), std::string::npos);
}

TEST_F(commands, wrong_use) {
    EXPECT_EQ(report({"--fail-on", "faild-free"}).status, exit_usage);
    EXPECT_NE(report({"--fail-on", "faild-free"}).err.find("failed-free"), std::string::npos);
    EXPECT_EQ(report({"--format", "xml"}).status, exit_usage);
    EXPECT_EQ(report({"--color", "sometimes"}).status, exit_usage);
    EXPECT_EQ(run({"report"}).status, exit_usage);
    EXPECT_EQ(report({"-o", "/nowhere/report.txt"}).status, exit_usage);
}

TEST_F(commands, traces_that_cannot_be_read_have_one_line) {
    auto const missing = run({"report", "/nowhere/t.lastref"});
    EXPECT_EQ(missing.status, exit_usage);
    auto const foreign = std::filesystem::path(path()).parent_path() / "foreign.lastref";
    std::ofstream(foreign) << std::string(5000, 'x');
    auto const unreadable = run({"report", foreign.string()});
    EXPECT_EQ(unreadable.status, exit_unreadable);
    EXPECT_EQ(run({"query", foreign.string(), "SELECT 1"}).status, exit_unreadable);
    for (auto const& r : {missing, unreadable}) {
        EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
        EXPECT_TRUE(r.err.starts_with("lastref: ")) << r.err;
        EXPECT_EQ(r.out, "");
    }
}

TEST_F(commands, json_into_a_file) {
    leak();
    auto const file = std::filesystem::path(path()).parent_path() / "report.json";
    auto const r = report({"--format", "json", "-o", file.string()});
    EXPECT_EQ(r.status, exit_findings);
    EXPECT_EQ(r.out, "");
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_EQ(nlohmann::json::parse(text.str())["findings"].size(), 1u);
}

TEST_F(commands, colour_follows_the_option) {
    leak();
    EXPECT_EQ(report().out.find('\x1b'), std::string::npos);  // no terminal here
    EXPECT_NE(report({"--color", "always"}).out.find('\x1b'), std::string::npos);
}

TEST_F(commands, limits) {
    leak();
    EXPECT_EQ(report({"--fail-on=none", "--max-leak-bytes", "64"}).status, exit_clean);
    EXPECT_EQ(report({"--fail-on=none", "--max-leak-bytes", "63"}).status, exit_findings);
    EXPECT_EQ(report({"--fail-on=none", "--max-outstanding=1"}).status, exit_clean);
    auto const r = report({"--fail-on=none", "--max-outstanding=0"});
    EXPECT_EQ(r.status, exit_findings);
    EXPECT_NE(r.out.find("Fails: 1 object lost, more than --max-outstanding 0."), std::string::npos) << r.out;
    EXPECT_EQ(report({"--max-leak-bytes", "much"}).status, exit_usage);
    EXPECT_EQ(report({"--max-outstanding", "-1"}).status, exit_usage);
}

TEST_F(commands, incomplete_trace_with_findings_has_findings) {
    leak();
    t.loss("records_dropped", 1);
    EXPECT_EQ(report().status, exit_findings);
    EXPECT_EQ(report({"--fail-on", "error"}).status, exit_incomplete);
    EXPECT_EQ(report({"--fail-on", "none", "--max-leak-bytes", "1G"}).status, exit_incomplete);
}

TEST_F(commands, suppressions_written_and_used) {
    leak();
    auto const file = beside("s.txt");
    EXPECT_EQ(report({"--write-suppressions", file}).status, exit_findings);
    EXPECT_EQ(report({"--write-suppressions", file}).status, exit_usage) << "overwrites nothing";
    auto const r = report({"--suppressions", file, "--fail-on-stale"});
    EXPECT_EQ(r.status, exit_clean);
    EXPECT_NE(r.out.find("Suppressed: 1 finding"), std::string::npos) << r.out;
    auto const json = nlohmann::json::parse(report({"--suppressions", file, "--format", "json"}).out);
    EXPECT_EQ(json["findings"].size(), 0u);
    ASSERT_EQ(json["suppressed"].size(), 1u);
    EXPECT_EQ(json["suppressed"][0]["suppressed_by"]["file"], file);
    EXPECT_EQ(json["suppressions"][0]["matches"], 1);
    std::ofstream(file, std::ios::app) << "failed-free:never_there\n";
    EXPECT_EQ(report({"--suppressions", file}).status, exit_clean);
    EXPECT_EQ(report({"--suppressions", file, "--fail-on-stale"}).status, exit_findings);
}

TEST_F(commands, mistakes_in_files_have_a_place) {
    main.call("cuCtxGetCurrent");
    auto const file = beside("x");
    std::ofstream(file) << "# fine\nallocation-leak\n";
    auto const s = report({"--suppressions", file});
    EXPECT_EQ(s.status, exit_usage);
    EXPECT_NE(s.err.find(file + ":2:1: no colon"), std::string::npos) << s.err;
    auto const b = report({"--baseline", file});
    EXPECT_EQ(b.status, exit_usage);
    EXPECT_NE(b.err.find(file + ":1:1: not JSON"), std::string::npos) << b.err;
    for (auto const* option : {"--suppressions", "--baseline"}) {
        EXPECT_EQ(report({option, "/nowhere/x"}).status, exit_usage);
        auto const r = report({option, "/"});
        EXPECT_EQ(r.status, exit_usage);
        EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
        EXPECT_EQ(r.out, "");
    }
}

TEST_F(commands, baseline_is_a_report_or_a_trace) {
    leak();
    auto const file = beside("base.json");
    EXPECT_EQ(report({"--format", "json", "-o", file}).status, exit_findings);
    EXPECT_EQ(report({"--baseline", file}).status, exit_clean);
    EXPECT_EQ(report({"--baseline", path()}).status, exit_clean);
    auto const json = nlohmann::json::parse(report({"--baseline", file, "--format", "json"}).out);
    EXPECT_EQ(json["baseline"]["known"], 1);
    EXPECT_EQ(json["findings"][0]["baseline"], "known");
    EXPECT_NE(report({"--baseline", file}).out.find("Known from " + file), std::string::npos);
}

TEST_F(commands, report_saved_in_other_formats) {
    leak();
    auto const file = beside("saved.json");
    auto const r = report({"--save", "json=" + file});
    EXPECT_EQ(r.status, exit_findings);
    EXPECT_NE(r.out.find("Verdict:"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(std::ifstream(file))["findings"].size(), 1u);
    for (auto const* wrong : {"json", "json=", "xml=f", "=f"})
        EXPECT_EQ(report({"--save", wrong}).status, exit_usage) << wrong;
    EXPECT_EQ(report({"--save", "json=/nowhere/f"}).status, exit_usage);
}

TEST_F(commands, query_prints_tab_separated_values) {
    main.call("cuCtxGetCurrent");
    auto const r = run({"query", path(), "SELECT id, 'a\tb' AS t FROM event"});
    EXPECT_EQ(r.status, exit_clean);
    EXPECT_EQ(r.out, "id\tt\n1\ta\\tb\n");
}

TEST_F(commands, query_prints_json) {
    auto const r = run(
        {"query", path(), "SELECT 1 AS one, NULL AS missing, 'x' AS text UNION ALL SELECT 2, 2.5, x'ff'", "--json"});
    auto const json = nlohmann::json::parse(r.out);
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["one"], 1);
    EXPECT_TRUE(json[0]["missing"].is_null());
    EXPECT_EQ(json[1]["text"], "ff");
    EXPECT_EQ(nlohmann::json::parse(run({"query", path(), "SELECT 1 WHERE 0", "--json"}).out).size(), 0u);
}

TEST_F(commands, query_refuses_to_write) {
    auto const r = run({"query", path(), "DELETE FROM event"});
    EXPECT_EQ(r.status, exit_usage);
    EXPECT_NE(r.err.find("only statements that read"), std::string::npos);
}

TEST_F(commands, query_passes_sqlites_words_on) {
    auto const r = run({"query", path(), "SELECT absent FROM event"});
    EXPECT_EQ(r.status, exit_usage);
    EXPECT_NE(r.err.find("no such column"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace lastref::cli
