#include "analyzer/store/statement.h"

#include <fmt/core.h>
#include <sqlite3.h>

namespace lastref::store {

void close_database::operator()(sqlite3* db) const {
    sqlite3_close_v2(db);
}
void finalize_statement::operator()(sqlite3_stmt* prepared) const {
    sqlite3_finalize(prepared);
}

error damaged(std::string const& file, std::string_view detail) {
    return {failure::unreadable, fmt::format("{}: damaged trace ({})", file, detail)};
}

statement::statement(sqlite3* db, std::string_view sql, std::string file) : file_(std::move(file)) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK)
        throw damaged(file_, sqlite3_errmsg(db));
    handle_.reset(raw);
}

statement::statement(database const& db, std::string_view sql, std::string file)
    : statement(db.get(), sql, std::move(file)) {
    budget_ = db.get_deleter().budget.get();
}

void statement::bind(int parameter, std::int64_t value) {
    sqlite3_bind_int64(handle_.get(), parameter, value);
}

void statement::bind(int parameter, std::string_view value) {
    sqlite3_bind_text64(handle_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// SQLite begins again from the first row when a finished statement is stepped once more; here the end stays the end.
bool statement::step() {
    if (done_) return false;
    if (budget_ != nullptr && !running_) budget_->used = 0;
    running_ = true;
    int const code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    done_ = code == SQLITE_DONE;
    if (done_) return false;
    if (code == SQLITE_INTERRUPT) throw damaged(file_, "reading it does not come to an end");
    throw damaged(file_, sqlite3_errmsg(sqlite3_db_handle(handle_.get())));
}

void statement::reset() {
    done_ = running_ = false;
    sqlite3_reset(handle_.get());
}

bool statement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t statement::integer(int column) const {
    if (!trusted_ && sqlite3_column_type(handle_.get(), column) != SQLITE_INTEGER)
        throw damaged(file_, fmt::format("{} is no integer", sqlite3_column_name(handle_.get(), column)));
    return sqlite3_column_int64(handle_.get(), column);
}

std::int64_t statement::integer_or(int column, std::int64_t fallback) const {
    if (trusted_)
        if (auto const value = sqlite3_column_int64(handle_.get(), column); value != 0) return value;
    auto const type = sqlite3_column_type(handle_.get(), column);
    if (type == SQLITE_INTEGER) return sqlite3_column_int64(handle_.get(), column);
    return type == SQLITE_NULL ? fallback : integer(column);  // which says what is wrong
}

std::optional<std::int64_t> statement::optional_integer(int column) const {
    if (is_null(column)) return std::nullopt;
    return integer(column);
}

std::string statement::text(int column) const {
    auto const* bytes = reinterpret_cast<char const*>(sqlite3_column_text(handle_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace lastref::store
