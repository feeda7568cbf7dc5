// SQLite with owners: private to this folder.
#pragma once

#include "analyzer/store/error.h"
#include "analyzer/store/harden.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace lastref::store {

struct close_database {
    void operator()(sqlite3* db) const;
    std::shared_ptr<step_budget> budget;  // of the connection
};
struct finalize_statement {
    void operator()(sqlite3_stmt* prepared) const;
};

using database = std::unique_ptr<sqlite3, close_database>;

// A prepared statement over one database. Throws `error` (unreadable) when SQLite cannot prepare or step.
class statement {
  public:
    statement(sqlite3* db, std::string_view sql, std::string file);
    // What it may do from its first step to its last is bounded by what is in the file.
    statement(database const& db, std::string_view sql, std::string file);

    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::string_view value);
    bool step();  // false at the end, and from then on until reset()
    void reset();

    // For columns of STRICT tables, which hold the type that they are declared with or NULL: types are not asked for
    // any more, which costs as much as the value. NULL then reads as 0 in integer().
    void trust_types() { trusted_ = true; }

    bool is_null(int column) const;
    std::int64_t integer(int column) const;  // throws where the value is no integer: STRICT tables hold none else
    std::int64_t integer_or(int column, std::int64_t fallback) const;
    std::optional<std::int64_t> optional_integer(int column) const;
    std::string text(int column) const;  // empty for NULL

  private:
    std::unique_ptr<sqlite3_stmt, finalize_statement> handle_;
    std::string file_;
    step_budget* budget_ = nullptr;
    bool running_ = false;
    bool done_ = false;
    bool trusted_ = false;
};

// One line: what is the matter with `file`, in SQLite's words where ours add nothing.
error damaged(std::string const& file, std::string_view detail);

}  // namespace lastref::store
