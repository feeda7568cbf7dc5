#include "analyzer/cli/doctor/child.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <sstream>

#include "analyzer/cli/folders.h"
#include "collector/drain/program_launch.h"

namespace lastref::cli::doctor {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{64} << 10;
// The driver's initialization takes seconds where no persistence daemon keeps the devices awake.
constexpr std::chrono::seconds probe_patience{30};

std::vector<char*> pointers(std::vector<std::string> const& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (auto const& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

pid_t start(std::vector<std::string> const& command, std::map<std::string, std::string> const& changes, int out,
            int err) {
    drain::changed_environment environment;
    for (auto const& [name, value] : changes) environment.set(name, value);
    auto const variables = environment.all();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    pid_t child = -1;
    int const failed = posix_spawnp(&child, command.front().c_str(), &actions, nullptr, pointers(command).data(),
                                    pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : child;
}

// Appends what can be read; false at the end of the stream.
bool take(int fd, std::string& text) {
    std::array<char, 4096> buffer;
    ssize_t const length = read(fd, buffer.data(), buffer.size());
    if (length <= 0) return false;
    if (text.size() < most_output) text.append(buffer.data(), static_cast<std::size_t>(length));
    return true;
}

// Until both streams end; false where the time was over before.
bool listen(int out, int err, answer& heard, clock::time_point deadline) {
    std::array<pollfd, 2> streams{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
        if (left <= 0) return false;
        if (poll(streams.data(), streams.size(), static_cast<int>(left)) < 0) continue;
        if (streams[0].revents && !take(out, heard.output)) streams[0].fd = -1;
        if (streams[1].revents && !take(err, heard.error)) streams[1].fd = -1;
    }
    return true;
}

void wait_for(pid_t child, answer& heard) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) heard.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) heard.signal = WTERMSIG(status);
}

}  // namespace

std::string answer::value(std::string const& name) const {
    std::istringstream lines(output);
    std::string result;  // the last word counts: a probe may know better later
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name + "=")) result = line.substr(name.size() + 1);
    return result;
}

std::string answer::failure() const {
    if (timed_out) return "did not end in time";
    if (signal) return "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
    if (exit_status) return "ended with status " + std::to_string(exit_status);
    return {};
}

answer ask(std::vector<std::string> const& command, std::map<std::string, std::string> const& environment,
           std::chrono::milliseconds patience) {
    answer heard;
    auto out = drain::make_pipe(), err = drain::make_pipe();
    pid_t const child = start(command, environment, out.write.get(), err.write.get());
    out.write.reset();
    err.write.reset();
    if (child < 0) {
        heard.exit_status = 127;
        return heard;
    }
    if (!listen(out.read.get(), err.read.get(), heard, clock::now() + patience)) {
        heard.timed_out = true;
        kill(child, SIGKILL);
    }
    wait_for(child, heard);
    return heard;
}

answer ask_probe(char const* subject, std::map<std::string, std::string> const& environment) {
    return ask({this_program().string(), "probe", subject}, environment, probe_patience);
}

}  // namespace lastref::cli::doctor
