#include "collector/drain/cupti_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "collector/drain/program_launch.h"
#include "schema/cupti_file.h"

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;
using cupti_file::activity;
using cupti_file::activity_kind;

constexpr std::size_t records_at_once = 4096;

char const* name_of(activity_kind kind) {
    switch (kind) {
        case activity_kind::call:
            return "call";
        case activity_kind::kernel:
            return "kernel";
        case activity_kind::copy:
            return "copy";
        case activity_kind::set:
            return "set";
        case activity_kind::graph_launch:
            return "graph_launch";
        case activity_kind::synchronization:
            return "synchronization";
        case activity_kind::memory_alloc:
            return "memory_alloc";
        case activity_kind::memory_free:
            return "memory_free";
        case activity_kind::pool_create:
            return "pool_create";
        case activity_kind::pool_destroy:
            return "pool_destroy";
        case activity_kind::pool_trim:
            return "pool_trim";
        case activity_kind::runtime_call:
            return "runtime_call";
    }
    return nullptr;
}

template <std::size_t size>
std::string_view text(char const (&field)[size]) {
    return {field, strnlen(field, size)};
}

// A file of ours, opened; reading it never goes behind its end, whatever its header claims.
class counted_file {
  public:
    explicit counted_file(fs::path const& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
        head_ = std::make_unique<cupti_file::header>();
        sound_ = fd_.get() >= 0 && read(head_.get(), sizeof *head_, 0) == sizeof *head_ &&
                 head_->magic == cupti_file::file_magic && head_->version == cupti_file::format_version &&
                 head_->header_bytes == cupti_file::header_bytes;
    }
    bool sound() const { return sound_; }
    cupti_file::header const& head() const { return *head_; }

    // The next records; empty at the end.
    std::vector<activity> next() {
        std::uint64_t const all = head_->activities.load();
        std::vector<activity> records(std::min<std::uint64_t>(records_at_once, all > taken_ ? all - taken_ : 0));
        auto const at = static_cast<off_t>(cupti_file::header_bytes + taken_ * sizeof(activity));
        ssize_t const bytes = records.empty() ? 0 : read(records.data(), records.size() * sizeof(activity), at);
        records.resize(bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(activity) : 0);
        taken_ += records.size();
        return records;
    }
    std::uint64_t missing() const { return head_->activities.load() - taken_; }

  private:
    ssize_t read(void* to, std::size_t bytes, off_t at) { return pread(fd_.get(), to, bytes, at); }

    descriptor fd_;
    std::unique_ptr<cupti_file::header> head_;
    std::uint64_t taken_ = 0;
    bool sound_ = false;
};

class taker {
  public:
    explicit taker(trace_file& trace) : db_(trace.db()), start_(trace.start_monotonic_ns()) {
        // Traces begun by an older lastref have no such tables.
        statement known(
            db_, "SELECT count(*) FROM sqlite_master WHERE name IN ('cupti_call', 'cupti_stray', 'gpu_activity')");
        usable_ = known.next() && known.integer(0) == 3;
    }
    bool usable() const { return usable_; }

    // Whether all is in the trace.
    bool take(counted_file& file) {
        auto const process = row_of(file.head());
        if (!process) return false;
        transaction all(db_);
        take_counts(file.head(), *process);
        take_strays(file.head(), *process);
        take_activities(file, *process);
        note_what_is_missing(file, *process);
        all.commit();
        return true;
    }

  private:
    std::optional<std::int64_t> row_of(cupti_file::header const& of) {
        statement query(db_, "SELECT id FROM process WHERE pid = ? AND start_ticks = ? ORDER BY id DESC LIMIT 1");
        query.bind(of.pid, of.process_start);
        return query.next() ? std::optional(query.integer(0)) : std::nullopt;
    }

    void take_counts(cupti_file::header const& of, std::int64_t process) {
        statement insert(db_, "INSERT OR REPLACE INTO cupti_call VALUES (?, ?, ?, ?)");
        for (auto const& each : of.counts) {
            std::string_view const name = text(each.name);
            if (std::uint64_t const calls = each.calls.load(); calls && !name.empty())
                insert(process, name, calls, each.failed.load());
        }
    }

    void take_strays(cupti_file::header const& of, std::int64_t process) {
        statement insert(db_,
                         "INSERT INTO cupti_stray VALUES (?1, ?2, ?3, ?4)"
                         " ON CONFLICT DO UPDATE SET calls = calls + excluded.calls");
        for (auto const& each : of.strays) {
            if (each.ready.load() != 1 || each.call >= cupti_file::max_calls) continue;
            insert(process, text(of.counts[each.call].name), text(each.module), each.calls.load());
        }
    }

    void take_activities(counted_file& file, std::int64_t process) {
        statement insert(db_, "INSERT INTO gpu_activity VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        for (auto records = file.next(); !records.empty(); records = file.next())
            for (activity const& each : records) take_activity(insert, file.head(), process, each);
    }

    void take_activity(statement& insert, cupti_file::header const& head, std::int64_t process, activity const& a) {
        char const* const kind = name_of(a.kind);
        if (kind == nullptr) return;
        bool const call = a.kind == activity_kind::call;
        std::optional<std::string_view> symbol;
        if (call && a.object < cupti_file::max_calls) {
            symbol = text(head.counts[a.object].name);
        }
        std::optional<std::int64_t> end;
        if (a.end) end = static_cast<std::int64_t>(a.end) - start_;
        insert(process, std::string_view(kind), symbol, static_cast<std::int64_t>(a.begin) - start_, end,
               std::uint32_t{a.correlation}, std::uint32_t{a.thread}, std::int64_t{a.device}, std::uint32_t{a.context},
               std::uint32_t{a.stream}, std::int64_t{a.detail}, call ? std::uint64_t{0} : a.object, a.bytes, a.extra);
    }

    void note_what_is_missing(counted_file const& file, std::int64_t process) {
        auto const& head = file.head();
        if (head.now.load() == cupti_file::state::unavailable)
            note(process, "CUPTI counted nothing: " + std::string(text(head.why)));
        if (!head.with_activities) return;
        if (auto const lost = head.dropped.load() + file.missing())
            note(process, std::to_string(lost) + " activities of CUPTI were lost");
        if (head.now.load() == cupti_file::state::running)
            note(process, "the process ended before CUPTI had handed over what the device did last");
    }

    void note(std::int64_t process, std::string const& said) {
        statement(db_, "INSERT INTO note VALUES (?, ?)")(process, std::string_view(said));
    }

    database& db_;
    std::int64_t start_;
    bool usable_ = false;
};

}  // namespace

void take_cupti_files(fs::path const& folder, trace_file& trace) {
    std::error_code failed;
    std::vector<fs::path> paths;
    for (auto const& entry : fs::directory_iterator(folder, failed))
        if (entry.path().extension() == ".cupti") paths.push_back(entry.path());
    if (paths.empty()) return;
    taker into(trace);
    if (!into.usable()) return;
    for (fs::path const& path : paths) {
        counted_file file(path);
        if (file.sound() && into.take(file)) unlink(path.c_str());
    }
}

}  // namespace lastref::drain
