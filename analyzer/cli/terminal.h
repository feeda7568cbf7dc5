// What the commands that write traces say to people: lines on standard error that begin with "lastref:".
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lastref::cli {

// One line.
void say(std::string const& text);

// "12,345"
std::string grouped(std::uint64_t number);
// "1 call", "12,345 calls"
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);
// A path as one would type it into a shell.
std::string typed(std::filesystem::path const& path);

// A line that is written over again and again, and removed at the end; on a terminal only.
class progress_line {
  public:
    progress_line();
    ~progress_line();
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;
    void show(std::string const& text);

  private:
    bool terminal_;
    bool shown_ = false;
};

}  // namespace lastref::cli
