// What is open: growing traces, files that go, recordings.
#include "gui/loader/session.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "tests/gui/example_trace.h"
#include "tests/gui/waiting.h"

namespace lastref::gui {
namespace {

class open_session : public ::testing::Test {
  protected:
    open_session() {
        work.set_follow_interval(20);
        QObject::connect(&work, &session::opened, [this] { ++opened; });
        QObject::connect(&work, &session::changed, [this] { ++changed; });
        QObject::connect(&work, &session::failed, [this](QString const& text) { problems << text; });
        QObject::connect(&work, &session::told, [this](QString const& text) { notes << text; });
        QObject::connect(&work, &session::printed, [this](QByteArray const& text) { output += text; });
    }
    void open(std::filesystem::path const& path) {
        work.open(QString::fromStdString(path.string()));
        ASSERT_TRUE(test::wait_for([this] { return opened > 0; }));
    }

    test::example_trace example;
    session work;
    int opened = 0, changed = 0;
    QStringList problems, notes;
    QByteArray output;
};

TEST_F(open_session, follows_a_trace_that_is_being_recorded) {
    example.set_state("recording");
    open(example.path());
    EXPECT_TRUE(work.is_following());
    auto const before = work.trace()->events;
    example.grow(500);
    ASSERT_TRUE(test::wait_for([&] { return work.trace()->events == before + 500; }));
    EXPECT_GT(changed, 0);
    EXPECT_EQ(opened, 1);
    example.grow(1);
    ASSERT_TRUE(test::wait_for([&] { return work.trace()->events == before + 501; }));
    EXPECT_TRUE(problems.isEmpty());
}

TEST_F(open_session, leaves_a_finished_one_alone) {
    open(example.path());
    EXPECT_FALSE(work.is_following());
    example.grow(5);
    test::run_events(150);
    EXPECT_EQ(changed, 0);
    work.reload();
    ASSERT_TRUE(test::wait_for([&] { return changed == 1; }));
}

TEST_F(open_session, a_file_that_goes_stays_shown) {
    open(example.path());
    work.set_following(true);
    std::filesystem::remove(example.path());
    ASSERT_TRUE(test::wait_for([&] { return !work.is_following(); }));
    EXPECT_NE(work.trace(), nullptr);
    EXPECT_FALSE(notes.isEmpty());
    EXPECT_TRUE(problems.isEmpty());
}

TEST_F(open_session, what_cannot_be_read_leaves_what_was_open) {
    open(example.path());
    auto const shown = work.trace();
    work.open(QStringLiteral("/nowhere/t.lastref"));
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty(); }));
    EXPECT_EQ(work.trace(), shown);
}

TEST_F(open_session, without_the_program_nothing_is_recorded) {
    qputenv("LASTREF_PROGRAM", "/nowhere/lastref");
    work.record({{"true"}, example.path().string().c_str() + QStringLiteral(".new"), {}, false, false});
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty(); }));
    EXPECT_FALSE(work.is_recording());
    qunsetenv("LASTREF_PROGRAM");
}

#ifdef LASTREF_PROGRAM
class recordings : public open_session {
  protected:
    recordings() { qputenv("LASTREF_PROGRAM", LASTREF_PROGRAM); }
    ~recordings() override { qunsetenv("LASTREF_PROGRAM"); }
    QTemporaryDir folder;
};

TEST_F(recordings, are_shown) {
    work.record({{LASTREF_DEMO}, folder.filePath("demo.lastref"), {}, true, false});
    EXPECT_TRUE(work.is_recording());
    ASSERT_TRUE(test::wait_for([&] {
        return !work.is_recording() && opened > 0 && !problems.size() &&
               work.trace()->state == store::trace_state::complete;
    }));
    EXPECT_GE(work.trace()->findings.size(), 6u);
    EXPECT_FALSE(work.trace()->outstanding.empty());
    EXPECT_TRUE(output.contains("lastref: ")) << output.toStdString();
}

TEST_F(recordings, of_what_is_no_program_say_why) {
    work.record({{"/nowhere/program"}, folder.filePath("none.lastref"), {}, false, false});
    ASSERT_TRUE(test::wait_for([&] { return !work.is_recording(); }));
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty() || opened > 0; }));
    EXPECT_TRUE(problems.value(0).contains("/nowhere/program")) << problems.join("; ").toStdString();
}

TEST_F(recordings, spools_are_imported) {
    QFile(folder.filePath("1-2.spool")).open(QIODevice::WriteOnly);
    work.open(folder.filePath("1-2.spool"));
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty() || opened > 0; }));
    EXPECT_TRUE(problems.value(0).contains("1-2.spool"))
        << "a file that is no spool: " << problems.join("; ").toStdString();
}
#endif

}  // namespace
}  // namespace lastref::gui
