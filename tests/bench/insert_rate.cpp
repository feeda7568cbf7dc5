// The rate that the drain is set against: the events of a finished trace, held in memory, inserted again by one
// prepared statement into a file with the same table and the same settings, up to the single file that a reader can
// open.
//
//     insert_rate TRACE FOLDER
//
// Prints JSON: {"rows": 512000, "seconds": 0.61}. FOLDER should be where the drain writes, since the disk counts too.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/sqlite.h"

namespace lastref::bench {
namespace {

using drain::database;
using drain::statement;

constexpr std::size_t rows_a_transaction = 65536;
using row = std::array<std::optional<std::int64_t>, 13>;  // the columns of `event` after its id

std::vector<row> read_events(database const& trace) {
    std::vector<row> rows;
    statement query(trace,
                    "SELECT begin, duration, thread, api, result, context, stream, object, other, size, extra, stack,"
                    " flags FROM event ORDER BY id");
    while (query.next()) {
        auto& one = rows.emplace_back();
        for (int column = 0; column < static_cast<int>(one.size()); ++column) {
            if (!query.is_null(column)) one[static_cast<std::size_t>(column)] = query.integer(column);
        }
    }
    return rows;
}

std::string table_of_events(database const& trace) {
    statement query(trace, "SELECT sql FROM sqlite_master WHERE name = 'event'");
    return query.next() ? query.text(0) : std::string{};
}

template <std::size_t... Column>
void insert(statement& into, row const& values, std::index_sequence<Column...>) {
    into(values[Column]...);
}

// The settings of collector/drain/trace_file.cpp.
void insert_all(std::filesystem::path const& path, std::string const& table, std::vector<row> const& rows) {
    database copy(path);
    copy.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000;"
        " PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;");
    copy.execute(table);
    {
        statement into(copy, "INSERT INTO event VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i % rows_a_transaction == 0) copy.execute(i == 0 ? "BEGIN IMMEDIATE" : "COMMIT; BEGIN IMMEDIATE");
            insert(into, rows[i], std::make_index_sequence<std::tuple_size_v<row>>{});
        }
        if (!rows.empty()) copy.execute("COMMIT");
    }
    copy.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;");
}

int run(char const* trace_path, std::filesystem::path const& folder) {
    std::string table;
    std::vector<row> rows;
    {
        database const trace(trace_path);
        table = table_of_events(trace);
        rows = read_events(trace);
    }
    auto const path = folder / "insert_rate.sqlite";
    std::ofstream{path, std::ios::trunc}.flush();
    auto const begin = std::chrono::steady_clock::now();
    insert_all(path, table, rows);
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin;
    std::filesystem::remove(path);
    std::printf("{\"rows\": %zu, \"seconds\": %.4f}\n", rows.size(), elapsed.count());
    return 0;
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("insert_rate TRACE FOLDER\n", stderr);
        return 2;
    }
    try {
        return lastref::bench::run(arguments[1], arguments[2]);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "insert_rate: %s\n", error.what());
        return 1;
    }
}
