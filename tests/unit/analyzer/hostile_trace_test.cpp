// Traces that somebody made to do harm: schemas with triggers, views in the place of tables, statements without an end,
// values of absurd size. Reading them ends in a line, soon, and changes nothing.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <fstream>
#include <string>

#include "analyzer/store/query.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::store {
namespace {

namespace fs = std::filesystem;

// SQLite's own words, or ours.
std::string refusal(std::function<void()> const& read) {
    try {
        read();
    } catch (error const& e) {
        EXPECT_NE(e.why(), failure::missing);
        return e.what();
    }
    return "nothing was refused";
}

class hostile : public ::testing::Test {
  protected:
    hostile() {
        auto main = t.thread("main").use(t.context());
        for (int i = 0; i < 20; ++i) main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    }
    void change(std::string const& sql) {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
        char* message = nullptr;
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
        sqlite3_free(message);
        sqlite3_close(db);
    }
    fs::path path() { return path_.empty() ? path_ = t.finish() : path_; }
    std::string analysed() {
        return refusal([this] { detectors::analyse(trace::open(path())); });
    }
    std::string queried(std::string const& sql) {
        return refusal([&] {
            query(
                path(), sql, [](auto const&) {}, [](auto const&) {});
        });
    }

    test::trace_builder t;

  private:
    fs::path path_;
};

TEST_F(hostile, is_no_matter_by_itself) {
    EXPECT_EQ(analysed(), "nothing was refused");
}

TEST_F(hostile, a_view_in_the_place_of_a_table) {
    for (std::string const table : {"meta", "event", "stack_frame", "note", "cupti_call"}) {
        test::trace_builder other;
        auto const file = other.finish();
        fs::copy_file(file, path(), fs::copy_options::overwrite_existing);
        change("DROP TABLE " + table + "; CREATE VIEW " + table +
               " AS WITH RECURSIVE n (key, value) AS (SELECT 1, 2 UNION ALL SELECT key, value FROM n) SELECT * FROM n");
        EXPECT_NE(analysed().find(table + " is no table of a trace"), std::string::npos) << analysed();
        EXPECT_NE(queried("SELECT 1").find(table), std::string::npos);
    }
}

TEST_F(hostile, a_virtual_table_in_the_place_of_a_table) {
    change("DROP TABLE note; CREATE VIRTUAL TABLE note USING fts5(process, text)");
    EXPECT_NE(analysed().find("note is no table"), std::string::npos) << analysed();
}

// The one view that is read by itself; the file is small, so it gets no more than a few seconds.
TEST_F(hostile, a_view_without_an_end) {
    change("INSERT INTO cupti_call VALUES (1, 'cuInit', 1, 0)");
    change(
        "CREATE VIEW audit (process, symbol, recorded, cupti, verdict) AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n) SELECT i, 'cuInit', 1, 1, 'same' FROM n WHERE i < 0");
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_NE(analysed().find("does not come to an end"), std::string::npos) << analysed();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(120));
}

TEST_F(hostile, functions_that_do_more_than_compute) {
    for (auto const* function : {"load_extension('/tmp/x.so')", "writefile('/tmp/x', 'y')", "readfile('/etc/hostname')",
                                 "fts3_tokenizer('simple', x'00')", "edit('x')"}) {
        change(std::string("CREATE VIEW IF NOT EXISTS bait AS SELECT ") + function);
        EXPECT_NE(queried("SELECT * FROM bait"), "nothing was refused") << function;
        EXPECT_NE(queried(std::string("SELECT ") + function), "nothing was refused") << function;
        change("DROP VIEW bait");
    }
}

TEST_F(hostile, values_of_absurd_size) {
    change("INSERT INTO note VALUES (NULL, hex(zeroblob(40000000)))");
    EXPECT_NE(analysed().find("too big"), std::string::npos) << analysed();
    EXPECT_NE(queried("SELECT length(hex(zeroblob(100000000)))"), "nothing was refused");
}

TEST_F(hostile, statements_that_reach_for_more) {
    for (auto const* sql : {"ATTACH '/tmp/x.db' AS x", "PRAGMA writable_schema = ON", "PRAGMA journal_mode = WAL",
                            "CREATE TEMP TRIGGER x AFTER INSERT ON note BEGIN SELECT 1; END", "VACUUM INTO '/tmp/x.db'",
                            "DELETE FROM note", "PRAGMA temp_store_directory = '/tmp'"})
        EXPECT_NE(queried(sql), "nothing was refused") << sql;
    EXPECT_FALSE(fs::exists("/tmp/x.db"));
}

// Damage that reading as much as a report needs does not meet.
TEST_F(hostile, damage_is_found_on_request) {
    EXPECT_EQ(refusal([this] { check_file(path()); }), "nothing was refused");
    change("CREATE TABLE later (text); INSERT INTO later VALUES (hex(zeroblob(20000)))");
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path()) - 4096));
    file.write("\xff\xff\xff\xff\xff\xff", 6);
    file.close();
    EXPECT_EQ(analysed(), "nothing was refused");
    EXPECT_NE(refusal([this] { check_file(path()); }).find("damaged trace"), std::string::npos);
}

}  // namespace
}  // namespace lastref::store
