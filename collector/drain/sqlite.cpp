#include "collector/drain/sqlite.h"

#include <initializer_list>
#include <utility>

namespace lastref::drain {
namespace {

[[noreturn]] void fail(sqlite3* handle, int code) {
    throw database_error(code & 0xff, sqlite3_errmsg(handle));
}

}  // namespace

database::database(std::filesystem::path const& path) {
    sqlite3* handle = nullptr;
    int const code = sqlite3_open_v2(path.c_str(), &handle,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) fail(handle, code);
    // A trace that is gone on with may have been made by somebody else: no trigger runs, and nothing in its schema can
    // do more than compute.
    for (auto const& [what, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}})
        sqlite3_db_config(handle, what, value, static_cast<int*>(nullptr));
    sqlite3_busy_timeout(handle, 10'000);
}

void database::forbid_views() {
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, static_cast<int*>(nullptr));
}

void database::execute(std::string const& sql) {
    int const code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(handle(), code);
}

statement::statement(database const& db, std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    int const code = sqlite3_prepare_v3(db.handle(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) fail(db.handle(), code);
    handle_.reset(handle);
}

void statement::run() {
    while (next()) {
    }
}

bool statement::next() {
    int const code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    sqlite3_reset(handle_.get());
    if (code != SQLITE_DONE) fail(sqlite3_db_handle(handle_.get()), code);
    return false;
}

std::string statement::text(int column) const {
    auto const* const bytes = reinterpret_cast<char const*>(sqlite3_column_text(handle_.get(), column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)))
                 : std::string();
}

void statement::set(int position, std::string_view value) {
    char const* const bytes = value.data() ? value.data() : "";
    sqlite3_bind_text(handle_.get(), position, bytes, static_cast<int>(value.size()), SQLITE_STATIC);
}

transaction::transaction(database& db) : db_(&db) {
    db.execute("BEGIN IMMEDIATE");
}

transaction::~transaction() {
    // SQLite may have rolled back by itself (disk full); then this fails, and nothing is lost by it.
    if (db_) sqlite3_exec(db_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void transaction::commit() {
    db_->execute("COMMIT");
    db_ = nullptr;
}

}  // namespace lastref::drain
