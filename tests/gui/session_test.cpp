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

TEST_F(open_session, following_goes_on_when_something_else_cannot_be_read) {
    example.set_state("recording");
    open(example.path());
    work.open(QStringLiteral("/nowhere/t.lastref"));
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty(); }));
    EXPECT_TRUE(work.is_following());
    auto const before = work.trace()->events;
    example.grow(3);
    EXPECT_TRUE(test::wait_for([&] { return work.trace()->events == before + 3; }));
}

TEST_F(open_session, following_ends_by_itself_with_the_recording) {
    example.set_state("recording");
    open(example.path());
    EXPECT_TRUE(work.is_following());
    example.set_state("complete");
    ASSERT_TRUE(test::wait_for([&] { return work.trace()->state == store::trace_state::complete; }));
    EXPECT_TRUE(test::wait_for([&] { return !work.is_following(); }));
}

// What is added while a trace is read is not in it, and must not be missed.
TEST(following_a_trace, sees_what_came_while_it_was_read) {
    test::example_trace example;
    example.set_state("recording");
    std::atomic<int> reads = 0;
    session work(nullptr, [&](load_request const& request, load_watch const& watch) {
        auto const out = load(request, watch);
        if (reads++ == 0) example.grow(7);  // after the snapshot, before anybody watches
        return out;
    });
    work.set_follow_interval(20);
    work.open(QString::fromStdString(example.path().string()));
    ASSERT_TRUE(test::wait_for([&] { return work.trace() != nullptr; }));
    auto const first = work.trace()->events;
    EXPECT_TRUE(test::wait_for([&] { return work.trace()->events == first + 7; }));
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

TEST_F(recordings, run_in_the_folder_that_was_asked_for) {
    QTemporaryDir other;
    QFile script(other.filePath("here.sh"));
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\npwd\n");
    script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    script.close();
    work.record({{"./here.sh"}, folder.filePath("here.lastref"), {}, true, false, other.path()});
    ASSERT_TRUE(test::wait_for([&] { return !work.is_recording(); }));
    EXPECT_TRUE(output.contains(QFileInfo(other.path()).fileName().toUtf8())) << output.toStdString();
}

TEST_F(recordings, that_fail_do_not_show_what_was_there_before) {
    QFile::copy(QString::fromStdString(example.path().string()), folder.filePath("1-2.lastref"));
    QFile(folder.filePath("1-2.spool")).open(QIODevice::WriteOnly);
    work.open(folder.filePath("1-2.spool"));
    ASSERT_TRUE(test::wait_for([&] { return !problems.isEmpty() || opened > 0; }));
    EXPECT_EQ(opened, 0) << "an older trace of that name is not what was imported";
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
