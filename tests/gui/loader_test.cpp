// Loading: what is refused and with which words, progress, cancelling, and that stale results are dropped.
#include "gui/loader/trace_loader.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include <fstream>
#include <sstream>

#include "gui/loader/background.h"
#include "gui/loader/lastref_program.h"
#include "tests/gui/example_trace.h"
#include "tests/gui/waiting.h"

namespace lastref::gui {
namespace {

namespace fs = std::filesystem;

std::string content(fs::path const& path) {
    std::stringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

struct outcomes {
    explicit outcomes(trace_loader& loader) {
        QObject::connect(&loader, &trace_loader::loaded, [this](auto const& trace) { traces.push_back(trace); });
        QObject::connect(&loader, &trace_loader::failed, [this](auto const& text) { problems << text; });
        QObject::connect(&loader, &trace_loader::cancelled, [this] { ++cancelled; });
    }
    std::vector<trace_pointer> traces;
    QStringList problems;
    int cancelled = 0;
};

QString problem_with(fs::path const& path) {
    trace_loader loader;
    outcomes got(loader);
    loader.start({path.string(), {}});
    EXPECT_TRUE(test::wait_for([&] { return !loader.busy(); }));
    EXPECT_TRUE(got.traces.empty());
    return got.problems.value(0);
}

TEST(loading, wrong_files_are_told_apart) {
    test::example_trace const example;
    auto const whole = content(example.path());
    EXPECT_TRUE(problem_with("/nowhere/t.lastref").contains("no such file"));
    EXPECT_TRUE(problem_with(fs::temp_directory_path()).contains("is a folder"));
    EXPECT_TRUE(problem_with(test::file_with("empty", "")).contains("empty file"));
    EXPECT_TRUE(problem_with(test::file_with("text", std::string(5000, 'x'))).contains("not a lastref trace"));
    auto newer = whole;
    newer[63] = 99;  // the last byte of SQLite's user_version
    EXPECT_TRUE(problem_with(test::file_with("newer", newer)).contains("newer lastref"));
    auto const cut = problem_with(test::file_with("cut", whole.substr(0, whole.size() / 2)));
    EXPECT_TRUE(cut.contains("damaged")) << cut.toStdString();
}

TEST(loading, never_writes_and_leaves_nothing_beside) {
    test::example_trace const example;
    auto const before = content(example.path());
    test::loaded(example.path());
    EXPECT_EQ(content(example.path()), before);
    for (auto const& each : fs::directory_iterator(example.path().parent_path()))
        EXPECT_EQ(each.path(), example.path());
}

TEST(loading, a_mistake_in_suppressions_names_its_place) {
    test::example_trace const example;
    trace_loader loader;
    outcomes got(loader);
    loader.start({example.path().string(), {test::file_with("bad", "no-such-rule:x\n").string()}});
    ASSERT_TRUE(test::wait_for([&] { return !loader.busy(); }));
    EXPECT_TRUE(got.problems.value(0).contains("bad:1:")) << got.problems.value(0).toStdString();
}

TEST(loading, tells_its_progress_in_order) {
    test::example_trace example;
    example.grow(50'000);
    double last = -1;
    int told = 0;
    load({example.path().string(), {}}, [&](load_stage stage, double share) {
        if (stage == load_stage::reading) {
            EXPECT_GE(share, last);
            last = share;
            ++told;
        }
        return true;
    });
    EXPECT_GT(told, 5);
    EXPECT_DOUBLE_EQ(last, 1);
}

TEST(loading, stops_when_told) {
    test::example_trace example;
    example.grow(50'000);
    int asked = 0;
    EXPECT_THROW(load({example.path().string(), {}}, [&](load_stage, double) { return ++asked < 3; }), load_cancelled);
    EXPECT_EQ(asked, 3);
}

// Work that waits until it is let go, and says how it ended.
struct held_work {
    std::atomic<bool> let_go = false;
    std::atomic<int> stopped = 0, running = 0;

    trace_pointer operator()(load_request const& request, load_watch const& watch) {
        ++running;
        while (request.path == "slow" && !let_go)
            if (!watch(load_stage::reading, 0.5)) {
                ++stopped;
                throw load_cancelled();
            }
        return request.path == "slow" ? nullptr : load(request, watch);
    }
};

TEST(loading, what_is_stale_is_dropped) {
    test::example_trace const example;
    held_work work;
    trace_loader loader(nullptr, std::ref(work));
    outcomes got(loader);
    auto const first = loader.start({"slow", {}});
    ASSERT_TRUE(test::wait_for([&] { return work.running == 1; }));
    auto const second = loader.start({example.path().string(), {}});
    EXPECT_GT(second, first);
    ASSERT_TRUE(test::wait_for([&] { return !got.traces.empty(); }));
    ASSERT_TRUE(test::wait_for([&] { return work.stopped == 1; }));
    test::run_events(50);
    EXPECT_EQ(got.traces.size(), 1u);
    EXPECT_TRUE(got.problems.isEmpty()) << got.problems.join("; ").toStdString();
}

// The same where the old job does not look at its flag and comes to an end after the new one.
TEST(loading, a_job_that_ends_late_is_stale_too) {
    test::example_trace const example;
    std::atomic<bool> let_go = false, done = false;
    trace_loader loader(nullptr, [&](load_request const& request, load_watch const&) {
        auto out = test::loaded(example.path());
        if (request.path == "late") {
            while (!let_go) std::this_thread::yield();
            out = nullptr;  // would be a failure
            done = true;
        }
        return out;
    });
    outcomes got(loader);
    loader.start({"late", {}});
    loader.start({"new", {}});
    ASSERT_TRUE(test::wait_for([&] { return !got.traces.empty(); }));
    let_go = true;
    ASSERT_TRUE(test::wait_for([&] { return done.load(); }));
    test::run_events(50);
    EXPECT_EQ(got.traces.size(), 1u);
    EXPECT_TRUE(got.problems.isEmpty());
}

TEST(loading, can_be_cancelled) {
    held_work work;
    trace_loader loader(nullptr, std::ref(work));
    outcomes got(loader);
    loader.start({"slow", {}});
    ASSERT_TRUE(test::wait_for([&] { return work.running == 1; }));
    loader.cancel();
    EXPECT_FALSE(loader.busy());
    EXPECT_EQ(got.cancelled, 1);
    ASSERT_TRUE(test::wait_for([&] { return work.stopped == 1; }));
    test::run_events(50);
    EXPECT_TRUE(got.traces.empty());
    EXPECT_TRUE(got.problems.isEmpty());
}

TEST(loading, goes_with_its_owner) {
    held_work work;
    {
        trace_loader loader(nullptr, std::ref(work));
        loader.start({"slow", {}});
        ASSERT_TRUE(test::wait_for([&] { return work.running == 1; }));
    }
    EXPECT_EQ(work.stopped, 1);
}

TEST(background_work, only_the_newest_counts) {
    background worker;
    std::vector<int> got;
    for (int i = 0; i < 5; ++i)
        worker.start([&got, i](std::atomic<bool> const&) { return [&got, i] { got.push_back(i); }; });
    ASSERT_TRUE(test::wait_for([&] { return !worker.busy(); }));
    test::run_events(50);
    EXPECT_EQ(got, std::vector{4});
}

TEST(command_lines, name_every_option_without_a_shell) {
    recording_request request{{"./a program", "$(x)", "--", "-o"}, "/tmp/t.lastref", "all", true, true};
    EXPECT_EQ(record_arguments(request).join("|").toStdString(),
              "record|-o|/tmp/t.lastref|--stacks|all|--sim|--force|--|./a program|$(x)|--|-o");
    EXPECT_EQ(import_arguments("/s", "/t").join("|").toStdString(), "import|/s|-o|/t");
}

TEST(command_lines, spools_are_known_by_their_names) {
    auto const spool = test::file_with("12-34.spool", "x");
    EXPECT_TRUE(is_left_over(QString::fromStdString(spool.string())));
    EXPECT_TRUE(is_left_over(QString::fromStdString(spool.parent_path().string())));
    EXPECT_FALSE(is_left_over(QStringLiteral("/nowhere/1-2.spool")));
    test::example_trace const example;
    EXPECT_FALSE(is_left_over(QString::fromStdString(example.path().string())));
}

}  // namespace
}  // namespace lastref::gui
