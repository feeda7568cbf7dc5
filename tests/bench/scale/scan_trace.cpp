// The limit that a report is set against: every column of every event of a trace read through SQLite, and nothing done
// with it but a sum that keeps the compiler from leaving it out.
//
//     scan_trace TRACE
//
// Prints JSON: {"rows": 1000000, "sum": 123}.
#include <cstdint>
#include <cstdio>
#include <exception>

#include "collector/drain/sqlite.h"

namespace lastref::bench {
namespace {

int run(char const* path) {
    drain::database const trace(path);
    drain::statement query(trace,
                           "SELECT id, begin, duration, thread, api, result, context, stream, object, other, size,"
                           " extra, stack, flags FROM event ORDER BY id");
    std::uint64_t sum = 0;
    std::uint64_t rows = 0;
    for (int const columns = query.columns(); query.next(); ++rows)
        for (int column = 0; column < columns; ++column) sum += static_cast<std::uint64_t>(query.integer(column));
    std::printf("{\"rows\": %llu, \"sum\": %llu}\n", static_cast<unsigned long long>(rows),
                static_cast<unsigned long long>(sum));
    return 0;
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("scan_trace TRACE\n", stderr);
        return 2;
    }
    try {
        return lastref::bench::run(arguments[1]);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "scan_trace: %s\n", error.what());
        return 1;
    }
}
