// What tests want to know of a trace, and draining in one step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/drain/drain_loop.h"

namespace lastref::test {

// Rows of a query as text: columns separated by '|', NULL as "-".
std::vector<std::string> rows(std::filesystem::path const& trace, std::string const& sql);
std::int64_t number(std::filesystem::path const& trace, std::string const& sql);

// Empty where every rule of a finished trace holds: integrity, foreign keys, one file, mode 0600, order of rows by
// time.
std::string broken_rule(std::filesystem::path const& trace);

// Drains all spools of dead processes that lie in `folder` into `trace`, which is made if there is none.
drain::drain_outcome drain_folder(std::filesystem::path const& folder, std::filesystem::path const& trace,
                                  drain::drain_limits const& limits = {});

// A control that never sleeps long, for processes that are gone.
class no_patience : public drain::drain_control {
  public:
    void sleep(std::chrono::milliseconds) override {}
    bool more_may_come() override { return false; }
    bool out_of_patience() override { return false; }
};

}  // namespace lastref::test
