// Spools, drained into a trace: it ends, and the trace is a sound database.
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>

#include "collector/drain/import.h"
#include "tests/fuzz/spool_image.h"

namespace {

using namespace lastref;

void require_one(sqlite3* db, char const* sql, char const* expected) {
    sqlite3_stmt* rows = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &rows, nullptr) != SQLITE_OK) std::abort();
    bool const any = sqlite3_step(rows) == SQLITE_ROW;
    char const* const found = any ? reinterpret_cast<char const*>(sqlite3_column_text(rows, 0)) : nullptr;
    if (expected == nullptr ? any : found == nullptr || std::strcmp(found, expected) != 0) {
        std::fprintf(stderr, "%s: %s\n", sql, found ? found : "nothing");
        std::abort();
    }
    sqlite3_finalize(rows);
}

void require_sound(std::filesystem::path const& trace) {
    sqlite3* db = nullptr;
    if (sqlite3_open_v2(trace.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) std::abort();
    require_one(db, "PRAGMA integrity_check", "ok");
    require_one(db, "PRAGMA foreign_key_check", nullptr);
    sqlite3_close(db);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static fuzz::spool_image image;
    auto const trace = fuzz::scratch() / "t.lastref";
    std::filesystem::remove(trace);
    try {
        drain::import_spools(image.write({data, size}), trace, {});
    } catch (drain::trace_error const&) {
        return 0;
    }
    if (std::filesystem::exists(trace)) require_sound(trace);
    return 0;
}
