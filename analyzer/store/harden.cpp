#include "analyzer/store/harden.h"

#include "analyzer/store/statement.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <utility>

namespace lastref::store {
namespace {

constexpr int steps_between_looks = 1'000'000;

int look(void* argument) {
    auto& budget = *static_cast<step_budget*>(argument);
    budget.used += steps_between_looks;
    return budget.most != 0 && budget.used > budget.most ? 1 : 0;
}

constexpr std::pair<int, int> settings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
};

// The longest that a trace holds is a command line; what SQLite's own functions make of it in a user's query may be
// longer.
constexpr std::pair<int, int> limits[] = {
    {SQLITE_LIMIT_LENGTH, 64 << 20},
    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
    {SQLITE_LIMIT_COLUMN, 200},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_COMPOUND_SELECT, 100},
    {SQLITE_LIMIT_VDBE_OP, 1'000'000},
    {SQLITE_LIMIT_FUNCTION_ARG, 100},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10'000},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

}  // namespace

void harden(sqlite3* db, step_budget& budget) {
    for (auto const& [what, value] : settings) sqlite3_db_config(db, what, value, static_cast<int*>(nullptr));
    for (auto const& [what, most] : limits) sqlite3_limit(db, what, most);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", nullptr, nullptr, nullptr);
    sqlite3_progress_handler(db, steps_between_looks, look, &budget);
}

void check_tables(sqlite3* db, std::string const& file) {
    statement rows(
        db,
        "SELECT name FROM sqlite_schema WHERE lower(name) IN ('meta', 'process', 'thread', 'context', 'kind', 'api', "
        "'module', 'frame', 'stack', 'stack_frame', 'event', 'phase', 'range', 'cupti_call', 'gpu_activity', "
        "'nvtx_range', 'nvtx_mark', 'nvtx_name', 'environment', 'loss', 'unhooked', 'note', 'spool_progress') "
        "AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')",
        file);
    if (rows.step()) throw damaged(file, fmt::format("{} is no table of a trace", rows.text(0)));
}

}  // namespace lastref::store
