// A user's own SQL over a trace: read-only, and bound to the trace alone.
#pragma once

#include "analyzer/store/error.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace lastref::store {

struct blob {
    std::string bytes;
};
using value = std::variant<std::monostate, std::int64_t, double, std::string, blob>;

// Calls `header` once with the columns' names, then `row` for each row of the result. Throws `error`: missing and
// unreadable as trace::open, `statement` with SQLite's own message for what it refuses; that includes every statement
// that would write, attach another file or change a setting.
void query(std::filesystem::path const& path, std::string const& sql,
           std::function<void(std::vector<std::string> const&)> const& header,
           std::function<void(std::vector<value> const&)> const& row);

// "3.40.1": of the library that is in use.
std::string sqlite_version();

}  // namespace lastref::store
