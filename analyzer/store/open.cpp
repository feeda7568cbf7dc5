#include "analyzer/store/open.h"

#include "analyzer/store/harden.h"
#include "analyzer/store/trace.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <fstream>
#include <system_error>

namespace lastref::store {
namespace {

namespace fs = std::filesystem;

bool has_content(fs::path const& path) {
    std::error_code failed;
    auto const size = fs::file_size(path, failed);
    return !failed && size > 0;
}

std::string percent_encoded(std::string const& path) {
    std::string out;
    for (char const c : path) {
        if (c == '%' || c == '?' || c == '#')
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

// A trace that is being recorded has a write-ahead log, which only `mode=ro` reads. Without one, `immutable` keeps
// SQLite from making -wal and -shm files beside a trace that may lie in a folder of somebody else's.
std::string uri_of(fs::path const& path) {
    bool const logged = has_content(path.string() + "-wal");
    return fmt::format("file:{}?{}", percent_encoded(fs::absolute(path).string()), logged ? "mode=ro" : "immutable=1");
}

void check_readable(fs::path const& path) {
    std::error_code failed;
    auto const status = fs::status(path, failed);
    if (!fs::exists(status)) throw error(failure::missing, fmt::format("{}: no such file", path.string()));
    if (fs::is_directory(status))
        throw error(failure::missing, fmt::format("{}: is a folder, not a trace", path.string()));
    if (!std::ifstream(path, std::ios::binary))
        throw error(failure::unreadable, fmt::format("{}: cannot be opened for reading", path.string()));
    if (!has_content(path))
        throw error(failure::unreadable, fmt::format("{}: not a lastref trace (empty file)", path.string()));
}

std::int64_t pragma(sqlite3* db, std::string_view name, std::string const& file) {
    statement query(db, fmt::format("PRAGMA {}", name), file);
    return query.step() ? query.integer(0) : 0;
}

// SQLite says "not a database" only when it reads the first page: a foreign file is told apart from a damaged trace
// here.
std::int64_t application_of(sqlite3* db, std::string const& file) {
    try {
        return pragma(db, "application_id", file);
    } catch (error const&) {
        if (sqlite3_errcode(db) == SQLITE_NOTADB) return 0;
        throw;
    }
}

void check_version(sqlite3* db, std::string const& file) {
    if (application_of(db, file) != application_id)
        throw error(failure::unreadable, fmt::format("{}: not a lastref trace", file));
    auto const version = pragma(db, "user_version", file);
    if (version > newest_schema)
        throw error(failure::unreadable,
                    fmt::format("{}: recorded by a newer lastref (trace schema {}, this one reads up to {})", file,
                                version, newest_schema));
    if (version < 1) throw damaged(file, "no schema version");
}

// What the longest statement of ours does is a few dozen steps a row, and a row takes a few dozen bytes.
std::uint64_t budget_for(fs::path const& path) {
    std::error_code failed;
    auto const size = fs::file_size(path, failed);
    return 100'000'000 + 64 * (failed ? 0 : std::uint64_t{size});
}

}  // namespace

void check_file_of(database const& db, std::string const& file) {
    statement rows(db.get(), "PRAGMA quick_check(1)", file);
    if (!rows.step()) throw damaged(file, "quick_check says nothing");
    if (auto const found = rows.text(0); found != "ok") throw damaged(file, found);
}

database open_for_reading(fs::path const& path) {
    check_readable(path);
    std::string const file = path.string();
    sqlite3* raw = nullptr;
    // One thread at a time uses a trace; the mutex that each column access would take costs as much as the access.
    constexpr int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int const code = sqlite3_open_v2(uri_of(path).c_str(), &raw, flags, nullptr);
    auto const budget = std::make_shared<step_budget>();
    database db(raw, close_database{budget});
    if (code != SQLITE_OK)
        throw error(failure::unreadable, fmt::format("{}: cannot be opened ({})", file, sqlite3_errstr(code)));
    sqlite3_busy_timeout(raw, 5000);
    harden(raw, *budget);
    budget->most = budget_for(path);
    check_version(raw, file);
    check_tables(raw, file);
    return db;
}

}  // namespace lastref::store
