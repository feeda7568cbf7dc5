#include "trace_reader.h"

#include <sys/stat.h>

#include "collector/drain/sqlite.h"

namespace lastref::test {

std::vector<std::string> rows(std::filesystem::path const& trace, std::string const& sql) {
    drain::database db(trace);
    drain::statement query(db, sql);
    std::vector<std::string> result;
    while (query.next()) {
        std::string row;
        for (int i = 0; i < query.columns(); ++i)
            row += (i ? "|" : "") + (query.is_null(i) ? std::string("-") : query.text(i));
        result.push_back(row);
    }
    return result;
}

std::int64_t number(std::filesystem::path const& trace, std::string const& sql) {
    auto const all = rows(trace, sql);
    return all.empty() ? -1 : std::stoll(all.front());
}

std::string broken_rule(std::filesystem::path const& trace) {
    if (auto const check = rows(trace, "PRAGMA integrity_check"); check != std::vector<std::string>{"ok"})
        return check.front();
    if (auto const check = rows(trace, "PRAGMA foreign_key_check"); !check.empty())
        return "foreign key: " + check.front();
    if (rows(trace, "PRAGMA application_id") != std::vector<std::string>{std::to_string(0x4c524546)})
        return "application_id";
    if (rows(trace, "PRAGMA user_version") != std::vector<std::string>{"1"}) return "user_version";
    for (auto const* suffix : {"-wal", "-shm", "-journal"}) {
        if (std::filesystem::exists(trace.string() + suffix)) return std::string("left behind: ") + suffix;
    }
    struct stat status;
    if (stat(trace.c_str(), &status) || (status.st_mode & 0777) != 0600) return "mode";
    auto const disorder = rows(trace, R"(
        WITH keyed AS (SELECT event.id, CASE WHEN verb IN ('destroy', 'release', 'run') THEN begin ELSE begin + duration END AS key
                       FROM event JOIN api ON api.id = api JOIN kind ON kind.id = kind WHERE duration IS NOT NULL)
        SELECT a.id FROM (SELECT id, key, max(key) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                          FROM keyed) AS a WHERE key < before)");
    if (!disorder.empty()) return "row " + disorder.front() + " of event is out of order";
    return {};
}

drain::drain_outcome drain_folder(std::filesystem::path const& folder, std::filesystem::path const& trace,
                                  drain::drain_limits const& limits) {
    drain::trace_claim claim(trace, drain::trace_claim::existing::continue_it);
    drain::trace_file file(claim);
    no_patience control;
    return drain::drain_all(folder, {}, file, control, limits);
}

}  // namespace lastref::test
