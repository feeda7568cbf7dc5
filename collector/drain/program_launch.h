// Starting the program that is to be recorded: held back until everything is ready for it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lastref::drain {

// The environment of this process with some variables changed.
class changed_environment {
  public:
    void set(std::string const& name, std::string const& value) { changes_[name] = value; }
    // Puts `first` in front of what the variable holds.
    void prepend(std::string const& name, std::string const& first, char separator);
    std::vector<std::string> all() const;

  private:
    std::map<std::string, std::string> changes_;
};

// A descriptor that closes itself. Closed on exec like every descriptor of lastref.
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor() { reset(); }
    int get() const { return fd_; }
    int release();
    void reset();

  private:
    int fd_ = -1;
};

struct pipe_ends {
    descriptor read, write;
};
pipe_ends make_pipe();

// Signals as they were before lastref changed anything: what the program is to find.
struct signal_state {
    sigset_t mask;
    bool child_ignored;
};

// The process exists from construction on, so its number is known; it becomes the program with go(). Destroyed without
// go(), it ends without having done anything. Threads: one.
class program_launch {
  public:
    program_launch(std::filesystem::path const& path, std::vector<std::string> const& arguments,
                   signal_state const& signals);
    ~program_launch();
    program_launch(program_launch const&) = delete;
    program_launch& operator=(program_launch const&) = delete;

    pid_t pid() const { return pid_; }
    // 0, or why the system would not run it.
    int go(std::vector<std::string> const& environment);
    // For another child of this process: lets go of what holds the program back.
    void forget() { gate_.reset(), failure_.reset(), pid_ = -1; }

  private:
    [[noreturn]] void become(int gate, int failure, signal_state const& signals);

    std::filesystem::path path_;
    std::vector<std::string> arguments_;
    descriptor gate_;     // the environment is written here
    descriptor failure_;  // errno of exec is read here, or the end of file
    pid_t pid_ = -1;
    bool gone_ = false;
};

}  // namespace lastref::drain
