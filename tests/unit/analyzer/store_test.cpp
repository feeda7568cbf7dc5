// What is opened, what is refused and with which words; and that nothing is ever written.
#include "analyzer/store/trace.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "analyzer/detectors/analysis.h"
#include "analyzer/store/query.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::store {
namespace {

namespace fs = std::filesystem;

std::string message_of(std::function<void()> const& f, failure expected) {
    try {
        f();
    } catch (error const& e) {
        EXPECT_EQ(e.why(), expected) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

class files : public ::testing::Test {
  protected:
    files() {
        main.use(t.context()).call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
        for (int i = 0; i < 200; ++i) main.call("cuCtxGetCurrent", {.stack = {"f" + std::to_string(i), "main"}});
    }
    fs::path path() { return path_.empty() ? path_ = t.finish() : path_; }
    std::string open_fails(failure expected) {
        return message_of([this] { detectors::analyse(trace::open(path())); }, expected);
    }
    void change(std::string const& sql) {
        sqlite3* db = nullptr;
        sqlite3_open(path().c_str(), &db);
        char* message = nullptr;
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
        sqlite3_free(message);
        sqlite3_close(db);
    }

    test::trace_builder t;
    test::thread_builder main = t.thread("main");

  private:
    fs::path path_;
};

TEST_F(files, rows_come_in_order_and_as_written) {
    auto const opened = trace::open(path());
    auto reader = opened.events();
    std::vector<event> batch;
    ASSERT_TRUE(reader.next(batch));
    ASSERT_EQ(batch.size(), 201u);
    auto const& first = batch.front();
    EXPECT_EQ(opened.at(first.api).symbol, "cuMemAlloc_v2");
    EXPECT_EQ(opened.at(first.api).name, "cuMemAlloc");
    EXPECT_EQ(opened.at(first.api).kind, event_kind::memory_alloc);
    EXPECT_EQ(opened.at(first.api).verb, verb::create);
    EXPECT_EQ(first.object, 0x1000u);
    EXPECT_EQ(first.size, 64u);
    EXPECT_TRUE(first.succeeded());
    EXPECT_EQ(opened.stack_of(first.stack).frames.size(), 2u);
    for (std::size_t i = 1; i < batch.size(); ++i) EXPECT_LT(batch[i - 1].id, batch[i].id);
    EXPECT_FALSE(reader.next(batch));
    EXPECT_TRUE(batch.empty());
}

TEST_F(files, batches_do_not_lose_rows) {
    for (std::size_t i = 0; i < event_reader::batch_size; ++i) main.call("cuCtxGetCurrent");
    auto const opened = trace::open(path());
    auto reader = opened.events();
    std::vector<event> batch;
    std::size_t rows = 0;
    std::size_t batches = 0;
    for (; reader.next(batch); ++batches) rows += batch.size();
    EXPECT_EQ(rows, 201 + event_reader::batch_size);
    EXPECT_EQ(batches, 2u);
}

TEST_F(files, large_handles_keep_their_value) {
    main.call("cuMemAlloc_v2", {.object = 0xfedcba9876543210, .size = 1});
    auto const opened = trace::open(path());
    auto reader = opened.events();
    std::vector<event> batch;
    reader.next(batch);
    EXPECT_EQ(batch.back().object, 0xfedcba9876543210u);
}

TEST_F(files, nothing_is_written_beside_the_trace) {
    auto const folder = path().parent_path();
    detectors::analyse(trace::open(path()));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(files, trace_in_a_folder_that_cannot_be_written) {
    auto const folder = path().parent_path();
    chmod(folder.c_str(), 0500);
    chmod(path().c_str(), 0400);
    EXPECT_NO_THROW(detectors::analyse(trace::open(path())));
    chmod(folder.c_str(), 0700);
}

TEST_F(files, names_with_marks_of_uris) {
    auto const odd = path().parent_path() / "a?b#c%41 d.lastref";
    fs::copy_file(path(), odd);
    EXPECT_EQ(trace::open(odd).processes().size(), 1u);
}

TEST_F(files, trace_that_is_still_being_recorded) {
    sqlite3* writer = nullptr;
    sqlite3_open(path().c_str(), &writer);
    auto const run = [&](char const* sql) {
        EXPECT_EQ(sqlite3_exec(writer, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(writer);
    };
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA wal_autocheckpoint = 0");
    run("UPDATE meta SET value = 'recording' WHERE key = 'state'");
    {
        auto const opened = trace::open(path());
        EXPECT_EQ(opened.state(), trace_state::recording);
        EXPECT_EQ(opened.event_count(), 201);
        run("DELETE FROM event WHERE id > 100");  // one snapshot: what is written later is not seen
        auto reader = opened.events();
        std::vector<event> batch;
        reader.next(batch);
        EXPECT_EQ(batch.size(), 201u);
    }
    EXPECT_EQ(trace::open(path()).event_count(), 100);
    sqlite3_close(writer);
}

TEST_F(files, missing) {
    EXPECT_NE(message_of([] { trace::open("/nowhere/t.lastref"); }, failure::missing).find("/nowhere/t.lastref"),
              std::string::npos);
}

TEST_F(files, folder) {
    message_of([this] { trace::open(path().parent_path()); }, failure::missing);
}

TEST_F(files, empty) {
    fs::resize_file(path(), 0);
    EXPECT_NE(open_fails(failure::unreadable).find("empty"), std::string::npos);
}

TEST_F(files, not_sqlite) {
    std::ofstream(path(), std::ios::trunc) << std::string(5000, 'x');
    EXPECT_NE(open_fails(failure::unreadable).find("not a lastref trace"), std::string::npos);
}

TEST_F(files, somebody_elses_database) {
    change("PRAGMA application_id = 1");
    EXPECT_NE(open_fails(failure::unreadable).find("not a lastref trace"), std::string::npos);
}

TEST_F(files, newer_schema) {
    change("PRAGMA user_version = 2");
    EXPECT_NE(open_fails(failure::unreadable).find("newer lastref"), std::string::npos);
}

TEST_F(files, no_schema_version) {
    change("PRAGMA user_version = 0");
    open_fails(failure::unreadable);
}

TEST_F(files, missing_table) {
    change("PRAGMA foreign_keys = OFF; DROP TABLE event");
    EXPECT_NE(open_fails(failure::unreadable).find("damaged"), std::string::npos);
}

TEST_F(files, missing_column) {
    change("PRAGMA foreign_keys = OFF; ALTER TABLE event DROP COLUMN flags");
    EXPECT_NE(open_fails(failure::unreadable).find("damaged"), std::string::npos);
}

TEST_F(files, event_of_a_thread_that_is_not_there) {
    change("PRAGMA foreign_keys = OFF; DELETE FROM thread");
    EXPECT_NE(open_fails(failure::unreadable).find("thread 1 is named but not there"), std::string::npos);
}

TEST_F(files, stack_that_is_not_there) {
    change("PRAGMA foreign_keys = OFF; DELETE FROM stack");
    EXPECT_NE(open_fails(failure::unreadable).find("stack"), std::string::npos);
}

TEST_F(files, text_where_a_number_belongs) {
    change(
        "PRAGMA foreign_keys = OFF; ALTER TABLE event RENAME TO old; CREATE TABLE event AS SELECT * FROM old; "
        "UPDATE event SET begin = 'soon' WHERE rowid = 5");
    EXPECT_NE(open_fails(failure::unreadable).find("begin is no integer"), std::string::npos);
}

TEST_F(files, nothing_where_a_number_belongs) {
    change(
        "PRAGMA foreign_keys = OFF; ALTER TABLE event RENAME TO old; CREATE TABLE event (id INTEGER PRIMARY KEY, begin "
        "INTEGER, duration INTEGER, thread INTEGER, api INTEGER, result INTEGER, context INTEGER, stream INTEGER, "
        "object "
        "INTEGER, other INTEGER, size INTEGER, extra INTEGER, stack INTEGER, flags INTEGER) STRICT; "
        "INSERT INTO event SELECT * FROM old; UPDATE event SET thread = NULL WHERE id = 5");
    EXPECT_NE(open_fails(failure::unreadable).find("thread 0 is named but not there"), std::string::npos);
}

TEST_F(files, id_beyond_all_reason) {
    change("PRAGMA foreign_keys = OFF; UPDATE process SET id = 9000000000");
    open_fails(failure::unreadable);
}

TEST_F(files, truncated_at_every_page) {
    auto const whole = fs::file_size(path());
    auto const copy = path().parent_path() / "cut.lastref";
    for (std::uintmax_t kept = 4096; kept < whole; kept += 4096 * 7) {
        fs::copy_file(path(), copy, fs::copy_options::overwrite_existing);
        fs::resize_file(copy, kept);
        EXPECT_THROW(detectors::analyse(trace::open(copy)), error) << kept;
    }
}

TEST_F(files, kinds_of_a_newer_collector_are_passed_over) {
    change(
        "INSERT INTO kind VALUES (9000, 'of_the_future', 'thing', 'create'); "
        "UPDATE api SET kind = 9000 WHERE symbol = 'cuMemAlloc_v2'");
    auto const what = detectors::analyse(trace::open(path()));
    EXPECT_EQ(what.calls.at("cuMemAlloc"), 1u);
    EXPECT_TRUE(what.found.empty());
}

class queries : public files {
  protected:
    std::string refused(std::string const& sql) {
        return message_of(
            [&] {
                query(
                    path(), sql, [](auto const&) {}, [](auto const&) {});
            },
            failure::statement);
    }
};

TEST_F(queries, rows_with_their_types) {
    std::vector<std::string> names;
    std::vector<value> values;
    query(
        path(), "SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d, x'00ff' AS e;", [&](auto const& n) { names = n; },
        [&](auto const& v) { values = v; });
    EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
    EXPECT_EQ(std::get<std::int64_t>(values[0]), 1);
    EXPECT_EQ(std::get<double>(values[1]), 2.5);
    EXPECT_EQ(std::get<std::string>(values[2]), "x");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(values[3]));
    EXPECT_EQ(std::get<blob>(values[4]).bytes, std::string("\0\xff", 2));
}

TEST_F(queries, common_table_expressions_and_table_info) {
    int rows = 0;
    auto const count = [&](auto const&) { ++rows; };
    query(
        path(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
        [](auto const&) {}, count);
    EXPECT_EQ(rows, 5);
    query(
        path(), "PRAGMA table_info(event)", [](auto const&) {}, count);
    EXPECT_GT(rows, 15);
}

TEST_F(queries, whatever_writes_is_refused) {
    for (auto const* sql : {"DELETE FROM event", "UPDATE event SET begin = 0", "INSERT INTO note VALUES (NULL, 'x')",
                            "DROP TABLE event", "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)",
                            "ATTACH '/tmp/other' AS other", "VACUUM", "PRAGMA user_version = 9", "BEGIN"})
        EXPECT_NE(refused(sql).find("only statements that read"), std::string::npos) << sql;
    EXPECT_EQ(trace::open(path()).event_count(), 201);
}

TEST_F(queries, mistakes_have_sqlites_words) {
    EXPECT_NE(refused("SELECT absent FROM event").find("no such column: absent"), std::string::npos);
    EXPECT_NE(refused("SELEC").find("syntax error"), std::string::npos);
    EXPECT_NE(refused("  ").find("no SQL statement"), std::string::npos);
    EXPECT_NE(refused("SELECT 1; SELECT 2").find("one statement"), std::string::npos);
}

}  // namespace
}  // namespace lastref::store
