// A connection that reads files of strangers: private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;

namespace lastref::store {

// How long one statement may run: steps of SQLite's machine since the statement began.
struct step_budget {
    std::uint64_t most = 0;  // 0: no limit
    std::uint64_t used = 0;
};

// No extension, no trigger, no function with side effects in a schema, no other file, nothing larger than a trace can
// hold. `budget` must outlive the connection.
void harden(sqlite3* db, step_budget& budget);

// Throws `error` where something that is read as a table is none: a view may be another statement in disguise, and
// never end. Names that are not there are left to whoever reads them.
void check_tables(sqlite3* db, std::string const& file);

}  // namespace lastref::store
