#include "collector/drain/program_launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

extern "C" char** environ;

namespace lastref::drain {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t const written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string read_all(int fd) {
    std::string bytes;
    char buffer[4096];
    for (;;) {
        ssize_t const got = read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return bytes;
        bytes.append(buffer, static_cast<std::size_t>(got));
    }
}

std::vector<std::string> split(std::string const& bytes) {
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < bytes.size();) {
        std::size_t const end = bytes.find('\0', at);
        texts.push_back(bytes.substr(at, end - at));
        at = end + 1;
    }
    return texts;
}

}  // namespace

void changed_environment::prepend(std::string const& name, std::string const& first, char separator) {
    char const* const former = std::getenv(name.c_str());
    set(name, former && *former ? first + separator + former : first);
}

std::vector<std::string> changed_environment::all() const {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable; ++variable) {
        std::string const text = *variable;
        if (!changes_.contains(text.substr(0, text.find('=')))) variables.push_back(text);
    }
    for (auto const& [name, value] : changes_) variables.push_back(name + "=" + value);
    return variables;
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
    reset();
    fd_ = other.release();
    return *this;
}

int descriptor::release() {
    return std::exchange(fd_, -1);
}

void descriptor::reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
}

pipe_ends make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw std::system_error(errno, std::generic_category(), "no pipe");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

program_launch::program_launch(std::filesystem::path const& path, std::vector<std::string> const& arguments,
                               signal_state const& signals)
    : path_(path), arguments_(arguments) {
    pipe_ends gate = make_pipe(), failure = make_pipe();
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "no process can be started");
    if (pid_ == 0) {
        gate.write.reset();
        failure.read.reset();
        become(gate.read.get(), failure.write.get(), signals);
    }
    gate_ = std::move(gate.write);
    failure_ = std::move(failure.read);
}

// In the new process. The environment comes through the gate; if the recorder goes away before, nothing does, and
// nothing runs.
void program_launch::become(int gate, int failure, signal_state const& signals) {
    std::vector<std::string> environment = split(read_all(gate));
    if (environment.empty()) _exit(127);
    signal(SIGCHLD, signals.child_ignored ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
    auto const variables = pointers(environment);
    auto const arguments = pointers(arguments_);
    execve(path_.c_str(), arguments.data(), variables.data());
    int error = errno;
    if (error == ENOEXEC) {  // a script without an interpreter line, which execvp would give to the shell too
        std::vector<std::string> shell = {"/bin/sh", path_.string()};
        shell.insert(shell.end(), arguments_.begin() + 1, arguments_.end());
        execve("/bin/sh", pointers(shell).data(), variables.data());
    }
    [[maybe_unused]] ssize_t const told = write(failure, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

int program_launch::go(std::vector<std::string> const& environment) {
    std::string bytes;
    for (std::string const& variable : environment) bytes += variable + '\0';
    write_all(gate_.get(), bytes);
    gate_.reset();
    std::string const error = read_all(failure_.get());
    failure_.reset();
    if (error.size() != sizeof(int)) {
        gone_ = true;
        return 0;
    }
    int number;
    error.copy(reinterpret_cast<char*>(&number), sizeof number);
    return number;
}

program_launch::~program_launch() {
    gate_.reset();
    if (pid_ > 0 && !gone_) waitpid(pid_, nullptr, 0);
}

}  // namespace lastref::drain
