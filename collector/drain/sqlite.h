// The little of SQLite that the drain needs: a connection and prepared statements that close themselves, errors as
// exceptions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lastref::drain {

class database_error : public std::runtime_error {
  public:
    database_error(int code, std::string const& what) : std::runtime_error(what), code_(code) {}
    int code() const { return code_; }  // SQLITE_FULL, SQLITE_BUSY, SQLITE_NOTADB …

  private:
    int code_;
};

class database {
  public:
    // The file must exist: who creates it decides about its mode.
    explicit database(std::filesystem::path const& path);

    sqlite3* handle() const { return handle_.get(); }
    void execute(std::string const& sql);
    // From now on: what is read as a table must be one. A view in its place may never end.
    void forbid_views();
    std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle()); }

  private:
    struct closer {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

// A prepared statement. Parameters are bound in order by operator(); integers, texts, and empty optionals as NULL.
class statement {
  public:
    statement(database const& db, std::string_view sql);

    template <class... Values>
    statement& bind(Values const&... values) {
        int position = 0;
        (set(++position, values), ...);
        return *this;
    }
    // Runs to the end, ready to be bound again.
    void run();
    template <class... Values>
    void operator()(Values const&... values) {
        bind(values...).run();
    }
    // For queries: true while there is a row. After false the statement is ready to be bound again.
    bool next();
    std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
    bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
    std::string text(int column) const;
    int columns() const { return sqlite3_column_count(handle_.get()); }

    void set(int position, std::int64_t value) { sqlite3_bind_int64(handle_.get(), position, value); }
    void set(int position, std::uint64_t value) { set(position, static_cast<std::int64_t>(value)); }
    void set(int position, int value) { set(position, std::int64_t{value}); }
    void set(int position, std::uint32_t value) { set(position, std::int64_t{value}); }
    void set(int position, double value) { sqlite3_bind_double(handle_.get(), position, value); }
    // The text must live until the statement has run.
    void set(int position, std::string_view value);
    void set(int position, std::nullopt_t) { sqlite3_bind_null(handle_.get(), position); }
    template <class Value>
    void set(int position, std::optional<Value> const& value) {
        value ? set(position, *value) : set(position, std::nullopt);
    }

  private:
    struct finalizer {
        void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
    };
    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

// BEGIN on construction, ROLLBACK on destruction unless committed.
class transaction {
  public:
    explicit transaction(database& db);
    ~transaction();
    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;
    void commit();

  private:
    database* db_;
};

}  // namespace lastref::drain
