// Traces that are wrong in ways that no recorder writes: an answer within reason, and never a wrong "clean".
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/findings/fingerprint.h"
#include "analyzer/report/render.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::report {
namespace {

constexpr std::array all_formats{format::text,  format::json,     format::sarif,
                                 format::junit, format::markdown, format::html};
constexpr int unreadable = 3, clean = 0, findings_there = 1;

void after_the_end(std::filesystem::path const& path, std::string const& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(db);
}

// As `lastref report` does it, in every format.
int status_of(test::trace_builder& t, findings::analysis* out = nullptr, std::string const& last_words = {}) {
    auto const names = t.names();
    auto const path = t.finish();
    if (!last_words.empty()) after_the_end(path, last_words);
    try {
        auto const trace = store::trace::open(path);
        findings::stacks stacks(trace, *names);
        auto what = detectors::analyse(trace, {}, &stacks);
        findings::give_fingerprints(what, trace, stacks);
        auto const outcome = gate::judge(what, trace, stacks, {}, {}, {});
        for (auto const as : all_formats) EXPECT_FALSE(render(as, {trace, what, stacks, outcome}, {}).empty());
        if (out != nullptr) *out = what;
        return gate::exit_status(outcome.reached);
    } catch (store::error const&) {
        return unreadable;
    }
}

// A program that leaves memory of its own behind, in a trace with a row in most tables.
class leaky : public test::trace_builder {
  public:
    leaky() {
        main = std::make_unique<test::thread_builder>(thread("main").use(context()).in({"f", "main"}));
        main->call("cuInit");
        last = main->call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
        range("test", 0, last);
        phase("driver_initialized");
        loss("stacks_cut", 1);
        note("a note");
    }
    std::unique_ptr<test::thread_builder> main;
    std::int64_t last = 0;
};

TEST(bad_trace, is_bad_by_itself) {
    leaky t;
    EXPECT_EQ(status_of(t), findings_there);
}

class without_table : public ::testing::TestWithParam<char const*> {};

TEST_P(without_table, is_not_clean) {
    leaky t;
    EXPECT_NE(status_of(t, nullptr, std::string("DROP TABLE ") + GetParam()), clean);
}

TEST_P(without_table, nor_with_an_empty_one) {
    leaky t;
    EXPECT_NE(status_of(t, nullptr, std::string("DELETE FROM ") + GetParam()), clean);
}

TEST_P(without_table, nor_with_ids_that_lead_nowhere) {
    for (auto const* column : {"id", "process", "thread", "api", "kind", "frame", "stack", "module", "context"})
        for (auto const* value : {"7777", "-1", "9223372036854775807"}) {
            leaky t;
            try {
                t.sql(std::string("UPDATE ") + GetParam() + " SET " + column + " = " + value);
            } catch (std::runtime_error const&) {
                continue;  // has no such column, or must not be twice
            }
            EXPECT_NE(status_of(t), clean) << column << " = " << value;
        }
}

INSTANTIATE_TEST_SUITE_P(tables, without_table,
                         ::testing::Values("meta", "process", "thread", "context", "kind", "api", "module", "frame",
                                           "stack", "stack_frame", "event", "phase", "range", "environment", "loss",
                                           "unhooked", "note"));

TEST(bad_trace, clocks_that_step) {
    leaky t;
    t.sql("UPDATE event SET begin = -9223372036854775807 WHERE id = 1");
    t.sql("UPDATE event SET begin = 9223372036854775807, duration = 9223372036854775807 WHERE id = 2");
    t.sql("UPDATE range SET begin = 9223372036854775807, end = -1");
    t.sql("UPDATE phase SET at = -5");
    EXPECT_NE(
        status_of(t, nullptr, "UPDATE process SET first_time = 9223372036854775807, last_time = -9223372036854775807"),
        clean);
    leaky other;
    EXPECT_NE(status_of(other, nullptr,
                        "UPDATE process SET first_time = -9223372036854775807, last_time = 9223372036854775807"),
              clean);
}

TEST(bad_trace, sizes_and_counts_beyond_all_reason) {
    leaky t;
    for (std::uint64_t i = 0; i < 4; ++i)
        t.main->call("cuMemAlloc_v2", {.object = 0x2000 + i, .size = ~std::uint64_t{0}});
    t.loss("records_dropped", std::numeric_limits<std::int64_t>::max());
    EXPECT_NE(status_of(t), clean);
}

TEST(bad_trace, ranges_that_cannot_be) {
    leaky t;
    t.range("ends before it begins", t.last, 0);
    t.range("negative", -5, -3);
    t.range(std::string(100000, 'x'), 0, std::numeric_limits<std::int64_t>::max());
    t.range("", 0, {});
    EXPECT_EQ(status_of(t), findings_there);
}

TEST(bad_trace, huge_stacks) {
    leaky t;
    t.sql("INSERT INTO stack (id, process, cut) VALUES (900, 1, 1)");
    t.sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
        " INSERT INTO stack_frame SELECT 900, i, (SELECT min(id) FROM frame) FROM n");
    t.sql("UPDATE event SET stack = 900");
    EXPECT_EQ(status_of(t), findings_there);
}

TEST(bad_trace, a_process_that_is_missing) {
    leaky t;
    t.process("/build/child", 4712);
    auto other = t.thread("main").use(t.context());
    other.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"g", "main"}});
    t.sql("DELETE FROM process WHERE pid = 4712");
    EXPECT_NE(status_of(t), clean);
}

// A million allocations alive at the end, of a thousand places.
TEST(bad_trace, a_million_live_objects) {
    leaky t;
    t.sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
        " INSERT INTO stack (id, process, cut) SELECT 1000 + i, 1, 0 FROM n");
    t.sql(
        "INSERT INTO frame (id, process, address, module) SELECT id, 1, id * 16, (SELECT min(id) FROM module) FROM "
        "stack WHERE id >= 1000");
    t.sql("INSERT INTO stack_frame SELECT id, 0, id FROM stack WHERE id >= 1000");
    t.sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)"
        " INSERT INTO event (id, begin, duration, thread, api, result, context, stream, object, other, size, extra, "
        "stack, flags)"
        " SELECT 10 + i, 5000000 + i, 1, 1, (SELECT id FROM api WHERE symbol = 'cuMemAlloc_v2'), 0, 1, 0, 65536 + i * "
        "256, 0, 256, 0,"
        " 1000 + i % 1000, 0 FROM n");
    findings::analysis what;
    EXPECT_EQ(status_of(t, &what), findings_there);
    std::uint64_t count = 0, bytes = 0;
    for (auto const& f : what.found) {
        count += f.count;
        bytes += f.bytes;
    }
    EXPECT_EQ(count, 1'000'001u);
    EXPECT_EQ(bytes, 256'000'064u);
}

}  // namespace
}  // namespace lastref::report
