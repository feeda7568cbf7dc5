// A small trace with something on every page: leaks, a refused free, a payload held by an executable graph, a buffer of
// one thread's default stream freed on another's, a loss.
#pragma once

#include "gui/loader/load.h"
#include "tests/unit/analyzer/trace_builder.h"

#include <filesystem>
#include <memory>
#include <string>

namespace lastref::test {

class example_trace {
  public:
    example_trace();
    std::filesystem::path const& path() const { return path_; }

    // More of the same: `calls` calls of cuCtxGetCurrent, added as a recorder adds them.
    void grow(std::int64_t calls);
    void set_state(std::string const& state);  // "recording", "complete"

  private:
    void sql(std::string const& statement);

    trace_builder builder_;
    std::filesystem::path path_;
};

// Read without progress; fails the test where it cannot be.
gui::trace_pointer loaded(std::filesystem::path const& path, std::vector<std::string> const& suppressions = {});

// A file with this in it, in a folder that goes with the process.
std::filesystem::path file_with(std::string const& name, std::string const& content);

}  // namespace lastref::test
