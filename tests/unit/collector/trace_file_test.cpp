// Who may write which trace.
#include "collector/drain/trace_file.h"
#include "collector/drain/sqlite.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::drain {
namespace {

using existing = trace_claim::existing;

struct trace_file_test : testing::Test {
    test::temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";

    // What opening says; empty where it succeeds.
    std::string refusal(existing what_then, trace_error::kind* why = nullptr) {
        try {
            trace_claim claim(trace, what_then);
            trace_file const file(claim);
            return {};
        } catch (trace_error const& error) {
            if (why) *why = error.why();
            return error.what();
        }
    }
    void make() { ASSERT_EQ(refusal(existing::refuse), ""); }
};

TEST_F(trace_file_test, is_private_whatever_the_umask) {
    mode_t const former = umask(0);
    make();
    umask(former);
    struct stat status;
    ASSERT_EQ(stat(trace.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(trace_file_test, is_not_overwritten_unless_asked) {
    make();
    EXPECT_NE(refusal(existing::refuse).find("exists already"), std::string::npos);
    EXPECT_EQ(refusal(existing::replace), "");
    EXPECT_EQ(refusal(existing::continue_it), "");
}

TEST_F(trace_file_test, has_one_writer_at_a_time) {
    trace_claim const first(trace, existing::refuse);
    for (auto const what_then : {existing::replace, existing::continue_it})
        EXPECT_NE(refusal(what_then).find("is being written by another lastref"), std::string::npos);
    EXPECT_FALSE(trace_claim::try_existing(trace));
}

TEST_F(trace_file_test, a_log_of_an_earlier_file_is_not_replayed) {
    std::ofstream(trace.string() + "-wal") << "old";
    std::ofstream(trace.string() + "-journal") << "old";
    make();
    EXPECT_FALSE(std::filesystem::exists(trace.string() + "-journal"));
}

TEST_F(trace_file_test, cannot_be_written) {
    trace = folder / "no/such/folder/t.lastref";
    EXPECT_NE(refusal(existing::refuse).find("can't be written: No such file"), std::string::npos);
    trace = folder.path();
    EXPECT_NE(refusal(existing::continue_it), "");
    EXPECT_NE(refusal(existing::replace), "");
    EXPECT_TRUE(std::filesystem::is_directory(trace));
}

// Pages are in the file, and the journal that takes them back is beside it.
TEST_F(trace_file_test, going_on_after_a_kill_inside_the_first_write) {
    { trace_claim const claim(trace, existing::refuse); }
    pid_t const child = fork();
    if (child == 0) {
        database db(trace);
        db.execute(
            "PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x BLOB); INSERT INTO t WITH RECURSIVE c(i) AS"
            " (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 200) SELECT zeroblob(4000) FROM c");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    ASSERT_GT(std::filesystem::file_size(trace), 0u);
    ASSERT_TRUE(std::filesystem::exists(trace.string() + "-journal"));
    EXPECT_EQ(refusal(existing::continue_it), "");
    EXPECT_EQ(test::broken_rule(trace), "");
}

TEST_F(trace_file_test, going_on_with_what_is_no_trace) {
    trace_error::kind why{};
    std::ofstream(trace) << std::string(5000, 'x');
    EXPECT_NE(refusal(existing::continue_it, &why).find("is not a trace of lastref"), std::string::npos);
    EXPECT_EQ(why, trace_error::kind::unreadable);
    std::filesystem::remove(trace);

    std::ofstream{trace};
    database(trace).execute("CREATE TABLE letters (text)");
    EXPECT_NE(refusal(existing::continue_it, &why).find("is not a trace of lastref"), std::string::npos);
    EXPECT_EQ(why, trace_error::kind::unreadable);
}

TEST_F(trace_file_test, going_on_with_other_versions) {
    make();
    database(trace).execute("UPDATE meta SET value = 1 WHERE key = 'table_hash'");
    EXPECT_NE(refusal(existing::continue_it).find("by another version"), std::string::npos);
    database(trace).execute("PRAGMA user_version = 2");
    trace_error::kind why{};
    EXPECT_NE(refusal(existing::continue_it, &why).find("newer version"), std::string::npos);
    EXPECT_EQ(why, trace_error::kind::unreadable);
}

TEST_F(trace_file_test, counts_from_where_it_was_started_first) {
    trace_claim claim(trace, existing::refuse);
    trace_file file(claim);
    file.start_at(5, 6);
    file.start_at(7, 8);
    EXPECT_EQ(file.start_monotonic_ns(), 5);
    EXPECT_EQ(file.meta("start_wall_clock_ns"), "6");
}

}  // namespace
}  // namespace lastref::drain
