#include "collector/drain/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "collector/drain/api_rows.h"
#include "collector/preload/hooks/api_table.h"
#include "schema_sql.h"

namespace lastref::drain {
namespace {

std::string quoted(std::filesystem::path const& path) {
    return "'" + path.string() + "'";
}

[[noreturn]] void refuse(std::filesystem::path const& path, std::string const& why) {
    throw trace_error(trace_error::kind::usage, "trace " + quoted(path) + " " + why);
}

[[noreturn]] void unreadable(std::filesystem::path const& path, std::string const& why) {
    throw trace_error(trace_error::kind::unreadable, quoted(path) + " " + why);
}

// A log that belonged to an earlier file of the same name would be replayed into the new one.
void remove_logs(std::filesystem::path const& path) {
    for (auto const* suffix : {"-wal", "-shm", "-journal"}) unlink((path.string() + suffix).c_str());
}

bool lock(int fd) {
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace

trace_claim::trace_claim(std::filesystem::path path, existing what_then) : path_(std::move(path)) {
    struct stat status;
    bool const exists = lstat(path_.c_str(), &status) == 0;
    if (exists && what_then == existing::refuse) refuse(path_, "exists already (--force replaces it)");
    if (exists) open_existing();
    if (exists && what_then == existing::replace) {
        unlink(path_.c_str());
        close(std::exchange(fd_, -1));
    }
    if (fd_ < 0) create();
}

void trace_claim::open_existing() {
    fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) refuse(path_, std::string("can't be written: ") + std::strerror(errno));
    struct stat status;
    if (fstat(fd_, &status) == 0 && !S_ISREG(status.st_mode)) {
        close(std::exchange(fd_, -1));
        refuse(path_, "is not a regular file");
    }
    if (!lock(fd_)) {
        close(std::exchange(fd_, -1));
        refuse(path_, "is being written by another lastref");
    }
}

void trace_claim::create() {
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0) refuse(path_, std::string("can't be written: ") + std::strerror(errno));
    is_new_ = true;
    if (!lock(fd_)) {
        close(std::exchange(fd_, -1));
        refuse(path_, "is being written by another lastref");
    }
    remove_logs(path_);
}

std::optional<trace_claim> trace_claim::try_existing(std::filesystem::path const& path) {
    int const fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    if (lock(fd)) return trace_claim(path, fd);
    close(fd);
    return std::nullopt;
}

trace_claim::trace_claim(trace_claim&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), is_new_(other.is_new_) {}

trace_claim::~trace_claim() {
    if (fd_ >= 0) close(fd_);
}

void trace_claim::abandon() {
    unlink(path_.c_str());
    remove_logs(path_);
}

trace_file::trace_file(trace_claim& claim) {
    auto const& path = claim.path();
    try {
        db_ = std::make_unique<database>(path);
        // The schema is the first thing that is written, whole: a claim that was new may have been written under since.
        // SQLite is asked, not the file system: who was killed inside that write has left pages, and a journal that
        // takes them back when the file is first read.
        pragma("page_count") == 0 ? create_schema() : check_schema(path);
        db_->execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000;"
            " PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;");
    } catch (database_error const& error) {
        if (error.code() == SQLITE_NOTADB || error.code() == SQLITE_CORRUPT)
            unreadable(path, "is not a trace of lastref, or is damaged");
        refuse(path, std::string("can't be written: ") + error.what());
    }
}

void trace_file::create_schema() {
    transaction all(*db_);
    db_->execute("PRAGMA application_id = " + std::to_string(trace_application_id));
    db_->execute(trace_sql);
    db_->execute(views_sql);
    write_api_rows(*db_);
    set_meta("lastref_version", LASTREF_VERSION);
    set_meta("table_hash", static_cast<std::int64_t>(hooks::table_hash()));
    set_meta("state", "recording");
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    set_meta("host", host);
    db_->execute("PRAGMA user_version = " + std::to_string(trace_version));
    all.commit();
}

std::int64_t trace_file::pragma(char const* name) {
    statement query(*db_, std::string("PRAGMA ") + name);
    query.next();
    return query.integer(0);
}

void trace_file::check_schema(std::filesystem::path const& path) {
    db_->forbid_views();
    if (pragma("application_id") != trace_application_id) unreadable(path, "is not a trace of lastref");
    if (pragma("user_version") > trace_version) unreadable(path, "was written by a newer version of lastref");
    if (pragma("user_version") < trace_version) unreadable(path, "was never completed");
    if (meta("table_hash") != std::to_string(static_cast<std::int64_t>(hooks::table_hash())))
        unreadable(path, "was recorded by another version of lastref; this one can't go on with it");
    if (auto const start = meta("start_monotonic_ns"); !start.empty())
        start_monotonic_ns_ = std::strtoll(start.c_str(), nullptr, 10);
}

std::string trace_file::meta(std::string const& key) {
    statement query(*db_, "SELECT value FROM meta WHERE key = ?");
    query.bind(std::string_view(key));
    return query.next() ? query.text(0) : std::string();
}

void trace_file::set_meta(std::string const& key, std::string const& value) {
    statement(*db_, "INSERT OR REPLACE INTO meta VALUES (?, ?)")(std::string_view(key), std::string_view(value));
}

void trace_file::set_meta(std::string const& key, std::int64_t value) {
    statement(*db_, "INSERT OR REPLACE INTO meta VALUES (?, ?)")(std::string_view(key), value);
}

void trace_file::add_note(std::string const& text) {
    statement(*db_, "INSERT INTO note VALUES (NULL, ?)")(std::string_view(text));
}

void trace_file::remove_meta(std::string const& key) {
    statement(*db_, "DELETE FROM meta WHERE key = ?")(std::string_view(key));
}

void trace_file::start_at(std::int64_t monotonic_ns, std::int64_t wall_clock_ns) {
    if (start_monotonic_ns_ >= 0) return;
    transaction both(*db_);
    set_meta("start_monotonic_ns", monotonic_ns);
    set_meta("start_wall_clock_ns", wall_clock_ns);
    both.commit();
    start_monotonic_ns_ = monotonic_ns;
}

void trace_file::close_log() {
    try {
        db_->execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;");
    } catch (database_error const& error) {
        if (error.code() != SQLITE_BUSY && error.code() != SQLITE_LOCKED) throw;
    }
}

}  // namespace lastref::drain
