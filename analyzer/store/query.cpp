#include "analyzer/store/query.h"

#include "analyzer/store/open.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lastref::store {
namespace {

// Pragmas whose argument says what is asked about; of all others it is a new value.
bool asks_about_something(char const* pragma) {
    constexpr char const* asking[] = {"table_info",       "table_xinfo",      "table_list",  "index_list",
                                      "index_info",       "index_xinfo",      "quick_check", "integrity_check",
                                      "foreign_key_list", "foreign_key_check"};
    return std::any_of(std::begin(asking), std::end(asking),
                       [&](auto const* one) { return sqlite3_stricmp(one, pragma) == 0; });
}

// The file is open read-only already; this keeps statements from reaching other files (ATTACH) and from changing how
// this one is read, and gives one message for all of them.
int only_reading(void* refused, int action, char const* name, char const* value, char const*, char const*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_FUNCTION:
        case SQLITE_RECURSIVE:
            return SQLITE_OK;
        case SQLITE_PRAGMA:
            if (value == nullptr || asks_about_something(name)) return SQLITE_OK;
            break;
        default:
            break;
    }
    *static_cast<bool*>(refused) = true;
    return SQLITE_DENY;
}

error refused_statement(std::string_view text) {
    return {failure::statement, std::string(text)};
}

std::unique_ptr<sqlite3_stmt, finalize_statement> prepare_reading(sqlite3* db, std::string const& path,
                                                                  std::string const& sql) {
    bool writes = false;
    sqlite3_set_authorizer(db, only_reading, &writes);
    sqlite3_stmt* raw = nullptr;
    char const* rest = nullptr;
    int const code = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()) + 1, &raw, &rest);
    sqlite3_set_authorizer(db, nullptr, nullptr);
    std::unique_ptr<sqlite3_stmt, finalize_statement> prepared(raw);
    if (writes) throw refused_statement("only statements that read are allowed: a trace is never changed");
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) throw damaged(path, sqlite3_errmsg(db));
    if (code != SQLITE_OK) throw refused_statement(sqlite3_errmsg(db));
    if (raw == nullptr) throw refused_statement("no SQL statement given");
    if (sqlite3_stmt_readonly(raw) == 0)
        throw refused_statement("only statements that read are allowed: a trace is never changed");
    std::string_view const tail(rest);
    if (tail.find_first_not_of(" \t\r\n;") != std::string_view::npos)
        throw refused_statement("one statement at a time");
    return prepared;
}

value value_at(sqlite3_stmt* row, int column) {
    auto const size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
    switch (sqlite3_column_type(row, column)) {
        case SQLITE_INTEGER:
            return std::int64_t{sqlite3_column_int64(row, column)};
        case SQLITE_FLOAT:
            return sqlite3_column_double(row, column);
        case SQLITE_TEXT:
            return std::string(reinterpret_cast<char const*>(sqlite3_column_text(row, column)), size);
        case SQLITE_BLOB:
            return blob{std::string(static_cast<char const*>(sqlite3_column_blob(row, column)), size)};
        default:
            return std::monostate{};
    }
}

}  // namespace

void query(std::filesystem::path const& path, std::string const& sql,
           std::function<void(std::vector<std::string> const&)> const& header,
           std::function<void(std::vector<value> const&)> const& row) {
    auto const db = open_for_reading(path);
    db.get_deleter().budget->most = 0;  // the user's own statement runs for as long as the user lets it
    auto const prepared = prepare_reading(db.get(), path.string(), sql);
    int const columns = sqlite3_column_count(prepared.get());
    std::vector<std::string> names;
    for (int i = 0; i < columns; ++i) names.emplace_back(sqlite3_column_name(prepared.get(), i));
    header(names);
    std::vector<value> values(static_cast<std::size_t>(columns));
    for (;;) {
        int const code = sqlite3_step(prepared.get());
        if (code == SQLITE_DONE) return;
        if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) throw damaged(path.string(), sqlite3_errmsg(db.get()));
        if (code != SQLITE_ROW) throw refused_statement(sqlite3_errmsg(db.get()));
        for (int i = 0; i < columns; ++i) values[static_cast<std::size_t>(i)] = value_at(prepared.get(), i);
        row(values);
    }
}

std::string sqlite_version() {
    return sqlite3_libversion();
}

}  // namespace lastref::store
