// All spools of one folder on their way into one trace, while their processes run or after they are gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/drain/spool_drain.h"
#include "collector/drain/trace_file.h"
#include "collector/drain/trace_writer.h"

namespace lastref::drain {

// What became of the spools so far; sums over one folder_drain.
struct drain_counts {
    std::uint64_t calls = 0;       // rows in `event`
    std::uint64_t processes = 0;   // whose calls are in the trace
    std::uint64_t unfinished = 0;  // left running at the end
};

// A spool that could not be read, and why.
struct unreadable_spool {
    std::filesystem::path path;
    std::string reason;
};

// Threads: one. Functions that write may throw database_error; then nothing since the last pass is in the trace, and
// the object must be made anew, which loses nothing.
class folder_drain {
  public:
    folder_drain(std::filesystem::path folder, trace_file& trace, drain_limits const& limits = {});
    ~folder_drain();

    // Adds one spool wherever it lies; false and an entry in unreadable() where it cannot be read.
    bool add(std::filesystem::path const& spool);
    // Takes in spools that have appeared in the folder; are there any? Half-written ones are tried again, as long as
    // their process lives.
    bool look_for_spools();

    enum class progress { idle, some, backlog };
    // Reads what is there, writes what is due, in one transaction.
    progress pass();

    // Are there processes that may still write?
    bool any_alive() const;
    bool empty() const { return spools_.empty(); }
    // The recorder's own child: its process is not finished before set_exit() has told how it ended. 0: none.
    void await_exit(std::uint32_t pid) { awaited_ = pid; }
    void set_exit(std::uint32_t pid, exit_result const& result);
    // Recording ends here: what still runs is left to a later import.
    void leave_unfinished();

    drain_counts counts() const;
    std::vector<unreadable_spool> const& unreadable() const { return unreadable_; }
    // Bytes of spool not yet in the trace, roughly; for showing progress.
    std::uint64_t records_read() const;

  private:
    bool start(spool::spool_file file);
    void note_now();
    void sort_ready();
    void write_ready();
    void finish_complete_ones();
    bool finish(spool_drain& spool);
    bool is_waiting_for_header(std::filesystem::path const& path, spool::open_failure failure);
    void mark_replaced();

    std::filesystem::path folder_;
    trace_file& trace_;
    trace_writer writer_;
    drain_limits limits_;
    std::vector<std::unique_ptr<spool_drain>> spools_;
    std::unordered_map<std::string, bool> known_;  // file names seen; false: to be tried again
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> newest_image_;  // by pid and start: first ticks
    std::vector<unreadable_spool> unreadable_;
    std::map<std::uint32_t, exit_result> exits_;
    std::uint32_t awaited_ = 0;
    std::vector<ready_record> ready_;
    drain_counts finished_;
    std::uint64_t finished_records_ = 0;
};

}  // namespace lastref::drain
