#include "collector/drain/folder_drain.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "collector/preload/hooks/api_table.h"

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

bool is_alive(spool::spool_file const& spool) {
    auto const& who = spool.identity();
    return process_watch::of_writer(who.pid, who.process_start, spool.inode()).alive();
}

// The collector names its files PID-STARTTICKS-INSTANT.spool; the images of a process that calls exec differ in the
// last.
bool writer_is_alive(fs::path const& path) {
    unsigned pid = 0;
    unsigned long long start = 0;
    if (std::sscanf(path.filename().c_str(), "%u-%llu", &pid, &start) != 2) return false;
    return process_watch(pid, start).alive();
}

// Of a process that lives the spool is changed, of others only read.
spool::spool_file::result open_spool(fs::path const& path) {
    auto result = spool::spool_file::open(path, spool::access::read_only);
    if (!result.file || !is_alive(*result.file)) return result;
    result.file.reset();  // its lock would be in the way
    return spool::spool_file::open(path, spool::access::read_write);
}

}  // namespace

folder_drain::folder_drain(fs::path folder, trace_file& trace, drain_limits const& limits)
    : folder_(std::move(folder)), trace_(trace), writer_(trace.db()), limits_(limits) {}

folder_drain::~folder_drain() = default;

bool folder_drain::is_waiting_for_header(fs::path const& path, spool::open_failure failure) {
    bool const half_written = failure == spool::open_failure::not_ready || failure == spool::open_failure::not_a_spool;
    return half_written && writer_is_alive(path);
}

bool folder_drain::add(fs::path const& path) {
    bool& settled = known_[fs::absolute(path).lexically_normal().string()];
    if (settled) return true;
    auto result = open_spool(path);
    if (!result.file && is_waiting_for_header(path, result.failure)) return true;
    settled = true;
    if (result.file) return start(std::move(*result.file));
    unreadable_.push_back({path, result.reason});
    return false;
}

bool folder_drain::look_for_spools() {
    std::size_t const before = spools_.size();
    std::error_code gone;
    for (auto const& entry : fs::directory_iterator(folder_, gone)) {
        if (entry.path().extension() == ".spool") add(entry.path());
    }
    return spools_.size() != before;
}

// A spool that we do not know of must hold nothing that is earlier than what a pass writes. So the clock is read, and
// who is dead is found out, before the last look into the folder: what appears after that look begins later.
void folder_drain::note_now() {
    constexpr int most_looks = 10;  // a program that starts processes faster than that must not keep us looking
    for (int looks = 0; looks < most_looks; ++looks) {
        for (auto const& spool : spools_) spool->note_now();
        if (!look_for_spools()) return;
    }
}

bool folder_drain::start(spool::spool_file file) {
    if (trace_.start_monotonic_ns() < 0) {
        writer_.commit();
        trace_.start_at(static_cast<std::int64_t>(file.identity().first_monotonic_ns),
                        static_cast<std::int64_t>(file.identity().wall_clock_ns));
    }
    if (file.identity().table_hash != hooks::table_hash()) {
        process_rows(file, trace_, writer_).foreign();
        unreadable_.push_back({file.path(), "was written by a collector of another version"});
        return false;
    }
    if (process_rows::complete_in(trace_, file)) {
        unlink(file.path().c_str());
        return true;
    }
    auto& newest = newest_image_[{file.identity().pid, file.identity().process_start}];
    newest = std::max(newest, file.identity().first_ticks);
    spools_.push_back(std::make_unique<spool_drain>(std::move(file), trace_, writer_, limits_));
    mark_replaced();
    spools_.back()->note_now();
    return true;
}

// A process with two spools has called exec in between; the latest one is the living image's. They are found in any
// order.
void folder_drain::mark_replaced() {
    for (auto const& one : spools_) {
        auto const& who = one->file().identity();
        if (who.first_ticks < newest_image_[{who.pid, who.process_start}]) one->set_replaced();
    }
}

folder_drain::progress folder_drain::pass() {
    note_now();
    std::uint64_t const read_before = records_read();
    std::uint64_t limit = never;
    for (auto const& spool : spools_) {
        spool->read();
        limit = std::min(limit, spool->limit_ns());
    }
    bool const everything = std::ranges::all_of(spools_, [](auto const& spool) { return spool->read_everything(); });
    ready_.clear();
    for (auto const& spool : spools_) spool->collect(limit, ready_);
    // Stamps that contradict each other (damage) could make every spool wait for another.
    if (!everything && ready_.empty() && records_read() == read_before) {
        for (auto const& spool : spools_) spool->force();
        for (auto const& spool : spools_) spool->collect(limit, ready_);
    }
    write_ready();
    finish_complete_ones();
    if (!everything) return progress::backlog;
    return ready_.empty() ? progress::idle : progress::some;
}

// Each thread's records come in order already, and most spools have one busy thread.
void folder_drain::sort_ready() {
    auto const by_time = [](ready_record const& a, ready_record const& b) { return a.ns < b.ns; };
    if (!std::ranges::is_sorted(ready_, by_time)) std::ranges::stable_sort(ready_, by_time);
}

void folder_drain::write_ready() {
    sort_ready();
    for (ready_record const& record : ready_) record.from->write(record);
    // Without new rows nothing has changed that a later drain could not read again.
    if (!ready_.empty() || writer_.writing()) {
        for (auto const& spool : spools_) spool->save_progress();
    }
    writer_.commit();
    for (auto const& spool : spools_) spool->committed();
}

// The status that the recorder saw belongs to the image that was running at the end.
bool folder_drain::finish(spool_drain& spool) {
    std::uint32_t const pid = spool.file().identity().pid;
    if (!spool.replaced()) {
        auto const exit = exits_.find(pid);
        if (exit == exits_.end() && pid == awaited_) return false;
        if (exit != exits_.end()) spool.set_exit(exit->second);
    }
    spool.finish();
    writer_.commit();
    unlink(spool.file().path().c_str());
    return true;
}

void folder_drain::finish_complete_ones() {
    for (auto& spool : spools_) {
        if (!spool->complete() || !finish(*spool)) continue;
        finished_.calls += spool->calls();
        ++finished_.processes;
        finished_records_ += spool->records_read();
        spool.reset();
    }
    std::erase(spools_, nullptr);
}

bool folder_drain::any_alive() const {
    return std::ranges::any_of(spools_, [](auto const& spool) { return spool->alive(); });
}

void folder_drain::set_exit(std::uint32_t pid, exit_result const& result) {
    exits_[pid] = result;
}

void folder_drain::leave_unfinished() {
    for (auto const& spool : spools_) spool->leave_unfinished();
    writer_.commit();
    finished_.unfinished += spools_.size();
}

drain_counts folder_drain::counts() const {
    drain_counts all = finished_;
    for (auto const& spool : spools_) {
        all.calls += spool->calls();
        ++all.processes;
    }
    return all;
}

std::uint64_t folder_drain::records_read() const {
    std::uint64_t all = finished_records_;
    for (auto const& spool : spools_) all += spool->records_read();
    return all;
}

}  // namespace lastref::drain
