// How far a long piece of work has come, on a terminal.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace lastref::cli {

// A line on the terminal that is rewritten in place, from 200 ms on: shorter work needs none.
class share_line {
  public:
    explicit share_line(std::string what) : what_(std::move(what)), enabled_(isatty(STDERR_FILENO) == 1) {}
    ~share_line() {
        if (shown_) fmt::print(stderr, "\r\x1b[K");
    }
    share_line(share_line const&) = delete;
    share_line& operator=(share_line const&) = delete;

    void operator()(double share) {
        auto const now = clock::now();
        if (!enabled_ || now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        shown_ = true;
        fmt::print(stderr, "\r{} {:.0f} %\x1b[K", what_, share * 100);
        std::fflush(stderr);
    }

  private:
    using clock = std::chrono::steady_clock;
    std::string what_;
    bool enabled_;
    bool shown_ = false;
    clock::time_point last_ = clock::now();
};

}  // namespace lastref::cli
