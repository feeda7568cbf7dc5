// Recording from start to end, with programs that spool as if the collector were in them.
#include "collector/drain/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "collector/drain/import.h"
#include "collector/drain/process_rows.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using strings = std::vector<std::string>;
using std::chrono::milliseconds;

std::vector<pid_t> children_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
    std::vector<pid_t> children;
    for (pid_t child; file >> child;) children.push_back(child);
    return children;
}

std::string command_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text;
    std::getline(file, text, '\0');
    return text;
}

struct recorder_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::filesystem::path spools = folder / "spools";
    std::vector<std::string> notes;

    void SetUp() override {
        std::filesystem::create_directory(spools);
        // The recorded program is built with the sanitizer too, and does not like to see another library preloaded.
        setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    }

    drain::record_options options(std::vector<std::string> const& command) {
        drain::record_options all;
        all.command = command;
        all.trace = trace;
        all.spool_parent = spools;
        all.library = LASTREF_HARMLESS_LIBRARY;
        all.grace = milliseconds(100);
        return all;
    }
    drain::record_result record(std::vector<std::string> const& command) {
        return drain::record(options(command),
                             {[this](std::string const& note) { notes.push_back(note); }, [](std::uint64_t) {}});
    }
    static std::vector<std::string> program(unsigned calls, std::string const& way) {
        return {LASTREF_SPOOLING_PROGRAM, std::to_string(calls), way};
    }
    // A recorder in a process of its own, to be harmed.
    pid_t recorder(std::vector<std::string> const& command) {
        pid_t const child = fork();
        if (child == 0) _exit(record(command).status);
        return child;
    }
    template <class Condition>
    static void wait_until(Condition const& condition) {
        for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(5));
        EXPECT_TRUE(condition());
    }
    // Of a recorder's two children the one that became the program, and the other.
    static pid_t child_of(pid_t recorder, bool the_program) {
        pid_t found = 0;
        wait_until([&] {
            auto const children = children_of(recorder);
            if (children.size() < 2) return false;
            for (pid_t const child : children) {
                if ((command_of(child) == LASTREF_SPOOLING_PROGRAM) == the_program) found = child;
            }
            return found != 0 && std::ranges::any_of(children, [](pid_t child) {
                       return command_of(child) == LASTREF_SPOOLING_PROGRAM;
                   });
        });
        return found;
    }
    std::int64_t events() { return number(trace, "SELECT count(*) FROM event"); }
    std::string state() { return rows(trace, "SELECT value FROM meta WHERE key = 'state'").front(); }
    std::filesystem::path only_spool_folder() { return *std::filesystem::directory_iterator(spools); }
};

TEST_F(recorder_test, a_program_that_ends_by_itself) {
    auto const result = record(program(1000, "clean"));
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.calls, 1000u);
    EXPECT_EQ(result.processes, 1u);
    EXPECT_EQ(result.losses, 0u);
    EXPECT_EQ(rows(trace, "SELECT end, exit_status, exit_signal FROM process"), strings{"clean|0|-"});
    EXPECT_EQ(events(), 1000);
    EXPECT_EQ(state(), "complete");
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_TRUE(std::filesystem::is_empty(spools));
}

TEST_F(recorder_test, exit_status_and_signal_are_the_programs) {
    EXPECT_EQ(record(program(10, "status")).status, 7);
    EXPECT_EQ(rows(trace, "SELECT end, exit_status, exit_signal FROM process"), strings{"abrupt|7|-"});
    std::filesystem::remove(trace);
    EXPECT_EQ(record(program(10, "killed")).status, 128 + SIGKILL);
    EXPECT_EQ(rows(trace, "SELECT end, exit_status, exit_signal FROM process"), strings{"abrupt|-|9"});
    EXPECT_EQ(events(), 10);
}

TEST_F(recorder_test, a_program_without_the_driver_leaves_an_empty_trace) {
    auto const result = record({"sh", "-c", "exit 3"});
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.processes, 0u);
    EXPECT_EQ(state(), "complete");
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_TRUE(std::filesystem::is_empty(spools));
}

TEST_F(recorder_test, the_programs_environment) {
    auto const out = folder / "out";
    auto all = options(
        {"sh", "-c",
         "echo \"$LD_PRELOAD|$LASTREF_STACKS|$LASTREF_DRAINED|$LD_LIBRARY_PATH\"; echo $LASTREF_SPOOL_DIR >&2"});
    all.command.back() =
        "{ " + all.command.back() + "; } >" + out.string() + " 2>&1; ls -ld $LASTREF_SPOOL_DIR >>" + out.string();
    all.stacks = "all";
    all.simulated = "/sim";
    setenv("LD_LIBRARY_PATH", "/mine", 1);
    drain::record(all, {[](std::string const&) {}, [](std::uint64_t) {}});
    unsetenv("LD_LIBRARY_PATH");
    std::ifstream file(out);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, std::string(LASTREF_HARMLESS_LIBRARY) + "|all|1|/sim:/mine");
    std::getline(file, line);
    EXPECT_TRUE(line.starts_with(spools.string() + "/lastref-"));
    std::getline(file, line);
    EXPECT_TRUE(line.starts_with("drwx------"));
}

TEST_F(recorder_test, what_cannot_be_recorded_is_not_started) {
    auto const refused = [&](drain::record_options const& all, int status, char const* part) {
        auto const result = drain::record(all, {[](std::string const&) {}, [](std::uint64_t) {}});
        EXPECT_EQ(result.status, status);
        EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
        EXPECT_FALSE(std::filesystem::exists(folder / "ran"));
        EXPECT_TRUE(std::filesystem::is_empty(spools));
    };
    std::vector<std::string> const touch{"sh", "-c", "touch " + (folder / "ran").string()};
    refused(options({"is-not-there"}), 127, "was not found");
    refused(options({folder.path().string()}), 126, "can't be run");
    std::ofstream(folder / "script") << "#!/is/not/there\n";
    std::filesystem::permissions(folder / "script", std::filesystem::perms::owner_all);
    refused(options({(folder / "script").string()}), 127, "interpreter");
    EXPECT_FALSE(std::filesystem::exists(trace)) << "nothing was recorded into it";
    auto all = options(touch);
    all.library = folder / "no.so";
    refused(all, 2, "is not there");
    all = options(touch);
    all.trace = folder / "no/such/folder/t";
    refused(all, 2, "can't be written");
    all = options(touch);
    all.spool_parent = "/proc/self/nowhere";
    refused(all, 2, "spool folder");
    std::ofstream(trace) << "a letter";
    refused(options(touch), 2, "exists already");
}

TEST_F(recorder_test, a_library_whose_path_holds_a_blank) {
    auto all = options({"sh", "-c", "echo $LD_PRELOAD >" + (folder / "out").string()});
    std::filesystem::create_directory(folder / "my tools");
    all.library = folder / "my tools" / "lib.so";
    std::filesystem::copy_file(LASTREF_HARMLESS_LIBRARY, all.library);
    EXPECT_EQ(drain::record(all, {[](std::string const&) {}, [](std::uint64_t) {}}).status, 0);
    std::string preload;
    std::ifstream(folder / "out") >> preload;
    EXPECT_TRUE(preload.ends_with("/liblastref.so")) << preload;
    EXPECT_TRUE(std::filesystem::is_empty(spools));
}

TEST_F(recorder_test, a_process_that_outlives_the_program) {
    auto const result = record(program(20, "outlive"));
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.unfinished, 1u);
    ASSERT_TRUE(result.spools_left);
    EXPECT_EQ(rows(trace, "SELECT name, count FROM loss"), strings{"processes_unfinished|1"});
    EXPECT_EQ(state(), "unfinished");
    auto const child = static_cast<pid_t>(number(trace, "SELECT pid FROM process WHERE spool IS NOT NULL"));
    wait_until([child] { return kill(child, 0) != 0; });
    ASSERT_TRUE(drain::import_rest(trace, {}));
    EXPECT_EQ(state(), "complete");
    EXPECT_EQ(events(), 40);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM loss"), 0);
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_TRUE(std::filesystem::is_empty(spools));
}

TEST_F(recorder_test, a_process_that_is_replaced) {
    auto const result = record(program(30, "exec"));
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(rows(trace, "SELECT end, exit_status FROM process ORDER BY first_time"), (strings{"exec|-", "clean|0"}));
    EXPECT_EQ(events(), 60);
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(recorder_test, signals_reach_the_program_once) {
    for (bool const whole_group : {false, true}) {
        pid_t const child = fork();
        if (child == 0) {
            setpgid(0, 0);
            _exit(record(program(1, "signal")).status);
        }
        child_of(child, true);
        std::this_thread::sleep_for(milliseconds(100));
        kill(whole_group ? -child : child, SIGUSR1);
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(WEXITSTATUS(status), 9) << whole_group;
        std::filesystem::remove(trace);
    }
}

TEST_F(recorder_test, the_recorder_is_killed) {
    pid_t const child = recorder(program(200, "slow"));
    pid_t const program = child_of(child, true);
    wait_until([&] { return std::filesystem::exists(trace) && events() > 0; });
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(kill(program, 0), 0) << "the program runs on";
    wait_until([&] { return state() == "complete"; });
    wait_until([&] { return std::filesystem::is_empty(spools); });
    EXPECT_EQ(events(), 200);
    wait_until([&] { return broken_rule(trace).empty(); });
}

TEST_F(recorder_test, the_drain_is_killed) {
    pid_t const child = recorder(program(200, "slow"));
    pid_t const drain = child_of(child, false);
    wait_until([&] { return std::filesystem::exists(trace) && events() > 0; });
    kill(drain, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(state(), "complete");
    EXPECT_EQ(events(), 200);
    EXPECT_EQ(rows(trace, "SELECT end, exit_status FROM process"), strings{"abrupt|0"});
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(recorder_test, recorder_and_drain_are_killed) {
    pid_t const child = recorder(program(200, "slow"));
    pid_t const program = child_of(child, true), drain = child_of(child, false);
    wait_until([&] { return std::filesystem::exists(trace) && events() > 0; });
    kill(child, SIGKILL);
    kill(drain, SIGKILL);
    waitpid(child, nullptr, 0);
    wait_until([&] { return kill(program, 0) != 0; });
    auto const result = drain::import_spools(only_spool_folder(), trace, {});
    EXPECT_TRUE(result.outcome.unreadable.empty());
    EXPECT_EQ(state(), "complete");
    EXPECT_EQ(events(), 200);
    EXPECT_EQ(broken_rule(trace), "");
    EXPECT_TRUE(std::filesystem::is_empty(spools));
}

TEST(shell_command, quotes_what_a_shell_would_change) {
    using namespace std::string_literals;
    EXPECT_EQ(drain::shell_command("prog\0a b\0\0it's\0--x=1\0"s), "prog 'a b' '' 'it'\\''s' --x=1");
    EXPECT_EQ(drain::shell_command("prog"s), "prog");
}

}  // namespace
}  // namespace lastref::test
