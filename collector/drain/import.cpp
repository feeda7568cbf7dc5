#include "collector/drain/import.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "collector/drain/spool_place.h"

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds between_progress{200};
// For the program to make its first spool after it has started its drain.
constexpr std::chrono::seconds first_spool{30};

// Takes what is there, and waits for nobody.
class import_control final : public drain_control {
  public:
    explicit import_control(std::function<void(std::uint64_t)> const& progress) : progress_(progress) {}
    void sleep(milliseconds most) override { std::this_thread::sleep_for(most); }
    bool more_may_come() override { return false; }
    bool out_of_patience() override { return ++passes_ > 2; }
    void progressed(std::uint64_t records) override {
        if (!progress_ || clock::now() < told_ + between_progress) return;
        told_ = clock::now();
        progress_(records);
    }

  private:
    std::function<void(std::uint64_t)> progress_;
    clock::time_point told_ = clock::now();
    int passes_ = 0;
};

class detached_control final : public drain_control {
  public:
    detached_control(fs::path const& folder, std::uint32_t pid) : folder_(folder), pid_(static_cast<pid_t>(pid)) {}
    void sleep(milliseconds most) override { std::this_thread::sleep_for(most); }
    bool out_of_patience() override { return false; }
    bool more_may_come() override {
        if (pid_) return kill(pid_, 0) == 0 || errno == EPERM;
        seen_ = seen_ || !spools_at(folder_).empty();
        return !seen_ && clock::now() < begun_ + first_spool;
    }

  private:
    fs::path folder_;
    pid_t pid_;
    clock::time_point begun_ = clock::now();
    bool seen_ = false;
};

// The earliest begin of all, so that no time in the trace is negative.
void start_with_earliest(trace_file& trace, std::vector<fs::path> const& spools) {
    std::optional<spool::spool_identity> earliest;
    for (fs::path const& path : spools) {
        auto const opened = spool::spool_file::open(path, spool::access::read_only);
        if (!opened.file) continue;
        auto const& who = opened.file->identity();
        if (!earliest || who.first_monotonic_ns < earliest->first_monotonic_ns) earliest = who;
    }
    if (earliest)
        trace.start_at(static_cast<std::int64_t>(earliest->first_monotonic_ns),
                       static_cast<std::int64_t>(earliest->wall_clock_ns));
}

import_result run_import(trace_claim& claim, fs::path const& folder, std::vector<fs::path> const& spools,
                         std::function<void(std::uint64_t)> const& progress) {
    trace_file trace(claim);
    start_with_earliest(trace, spools);
    import_control control(progress);
    return {false, drain_all(folder, spools, trace, control)};
}

// A trace may come from anybody, and what it names is read and removed: so only what a recorder of ours can have left,
// spools of our own in a folder that nobody else may enter.
bool is_left_by_us(fs::path const& spool) {
    struct stat file, folder;
    return spool.extension() == ".spool" && lstat(spool.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_uid == geteuid() && lstat(spool.parent_path().c_str(), &folder) == 0 && S_ISDIR(folder.st_mode) &&
           folder.st_uid == geteuid() && (folder.st_mode & 077) == 0;
}

bool is_of_this_host(database const& db) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    statement query(db, "SELECT value FROM meta WHERE key = 'host'");
    return query.next() && query.text(0) == host;
}

// What a trace says about spools that are not in it yet.
std::vector<fs::path> left_over(fs::path const& path) {
    std::vector<fs::path> spools;
    database db(path);
    db.forbid_views();
    statement application(db, "PRAGMA application_id");
    if (!application.next() || application.integer(0) != trace_application_id || !is_of_this_host(db)) return spools;
    statement query(db, "SELECT spool FROM process WHERE spool IS NOT NULL");
    while (query.next()) spools.emplace_back(query.text(0));
    statement folder(db, "SELECT value FROM meta WHERE key = 'spool_folder'");
    if (folder.next()) {
        auto const more = spools_at(folder.text(0));
        spools.insert(spools.end(), more.begin(), more.end());
    }
    std::erase_if(spools, [](fs::path const& spool) { return !is_left_by_us(spool); });
    return spools;
}

// Empty for what is no trace.
std::string state_of(fs::path const& path) {
    database db(path);
    db.forbid_views();
    statement query(db, "SELECT value FROM meta WHERE key = 'state'");
    return query.next() ? query.text(0) : std::string();
}

// Folders that lastref has made for spools, not those that the user has.
void remove_if_ours(fs::path const& folder) {
    if (fs::absolute(folder).lexically_normal().filename().string().starts_with("lastref-"))
        remove_spool_folder(folder);
}

}  // namespace

std::vector<fs::path> spools_at(fs::path const& path) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) return fs::exists(path, failed) ? std::vector{path} : std::vector<fs::path>{};
    std::vector<fs::path> spools;
    for (auto const& entry : fs::directory_iterator(path, failed)) {
        if (entry.path().extension() == ".spool") spools.push_back(entry.path());
    }
    std::ranges::sort(spools);
    return spools;
}

fs::path default_trace(fs::path const& path) {
    fs::path whole = fs::absolute(path).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    std::error_code failed;
    if (!fs::is_directory(whole, failed)) return fs::path(whole).replace_extension(".lastref").filename();
    return whole.filename().string() + ".lastref";
}

import_result import_spools(fs::path const& path, fs::path const& trace,
                            std::function<void(std::uint64_t)> const& progress) {
    trace_claim claim(trace, trace_claim::existing::continue_it);
    std::error_code failed;
    bool const is_folder = fs::is_directory(path, failed);
    import_result result = run_import(claim, is_folder ? path : fs::path(), spools_at(path), progress);
    if (claim.is_new() && !result.outcome.unreadable.empty() && result.outcome.counts.processes == 0) claim.abandon();
    if (is_folder) remove_if_ours(path);
    return result;
}

std::optional<import_result> import_rest(fs::path const& trace, std::function<void(std::uint64_t)> const& progress) {
    try {
        if (access(trace.c_str(), R_OK | W_OK)) return std::nullopt;
        std::string const state = state_of(trace);
        if (state != "recording" && state != "unfinished") return std::nullopt;
        auto claim = trace_claim::try_existing(trace);
        if (!claim) return import_result{.busy = true, .outcome = {}};
        auto const spools = left_over(trace);
        // A recorder that was killed without leaving anything still leaves a trace in its recording state.
        if (spools.empty() && state == "unfinished") return std::nullopt;
        auto const result = run_import(*claim, {}, spools, progress);
        for (fs::path const& spool : spools) remove_if_ours(spool.parent_path());
        return result;
    } catch (std::exception const&) {
        return std::nullopt;
    }
}

drain_outcome drain_detached(fs::path const& folder, fs::path const& trace, std::uint32_t pid) {
    trace_claim claim(trace, trace_claim::existing::continue_it);
    drain_outcome outcome;
    {
        trace_file file(claim);
        file.set_meta("state", "recording");
        file.set_meta("spool_folder", fs::absolute(folder).string());
        detached_control control(folder, pid);
        outcome = drain_all(folder, {}, file, control);
    }
    if (claim.is_new() && outcome.counts.processes == 0 && outcome.error.empty()) claim.abandon();
    remove_if_ours(folder);
    return outcome;
}

}  // namespace lastref::drain
