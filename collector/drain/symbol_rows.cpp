#include "collector/drain/symbol_rows.h"

#include <optional>

namespace lastref::drain {
namespace {

// Traces of an older lastref have no such tables.
constexpr char const* tables =
    "CREATE TABLE IF NOT EXISTS symbol_file (id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT NOT NULL,"
    " UNIQUE (path, build_id)) STRICT;"
    "CREATE TABLE IF NOT EXISTS symbol (file INTEGER NOT NULL REFERENCES symbol_file (id), offset INTEGER NOT NULL,"
    " position INTEGER NOT NULL, function TEXT, source TEXT, line INTEGER, inlined INTEGER NOT NULL,"
    " PRIMARY KEY (file, offset, position)) STRICT, WITHOUT ROWID";

// A call is the instruction before its return address; a callback's function is its first. Handles and sizes are no
// functions, so only kinds whose `extra` is one count.
constexpr char const* code =
    "SELECT module.path, coalesce(module.build_id, ''), frame.address - module.load_bias - 1"
    " FROM frame JOIN module ON module.id = frame.module"
    " UNION SELECT module.path, coalesce(module.build_id, ''), function - module.load_bias FROM ("
    "   SELECT DISTINCT thread.process, event.extra AS function FROM event JOIN thread ON thread.id = event.thread"
    "   JOIN api ON api.id = event.api JOIN kind ON kind.id = api.kind WHERE kind.name IN ('user_object_create',"
    "   'host_function', 'stream_callback', 'callback_user_object', 'callback_host_function', 'callback_stream'))"
    " JOIN module USING (process) WHERE function >= first_address AND function < end_address"
    " ORDER BY 1, 2, 3";

std::optional<std::string_view> known(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::vector<code_in_file> code_in_trace(trace_file& trace) {
    std::vector<code_in_file> out;
    statement rows(trace.db(), code);
    while (rows.next()) {
        std::string path = rows.text(0), build_id = rows.text(1);
        if (out.empty() || out.back().path != path || out.back().build_id != build_id)
            out.push_back({std::move(path), std::move(build_id), {}});
        out.back().offsets.push_back(static_cast<std::uint64_t>(rows.integer(2)));
    }
    return out;
}

namespace {

database& with_tables(trace_file& trace) {
    trace.db().execute(tables);
    return trace.db();
}

}  // namespace

symbol_writer::symbol_writer(trace_file& trace)
    : trace_(trace),
      all_(with_tables(trace)),
      symbol_(trace.db(), "INSERT OR REPLACE INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?)") {}

void symbol_writer::begin_file(std::string_view path, std::string_view build_id) {
    auto& db = trace_.db();
    statement(db, "INSERT OR IGNORE INTO symbol_file (path, build_id) VALUES (?, ?)")(path, build_id);
    statement id(db, "SELECT id FROM symbol_file WHERE path = ? AND build_id = ?");
    id.bind(path, build_id).next();
    file_ = id.integer(0);
    statement(db, "DELETE FROM symbol WHERE file = ?")(file_);
}

void symbol_writer::add(symbol_row const& row) {
    std::optional<std::int64_t> const line = row.line != 0 ? std::optional(row.line) : std::nullopt;
    symbol_(file_, row.offset, row.position, known(row.function), known(row.source), line, row.inlined ? 1 : 0);
}

void symbol_writer::commit() {
    all_.commit();
}

}  // namespace lastref::drain
