// One spool, that is one recorded process, on its way into the trace.
//
// A pass goes: note_now, read, limit_ns (from which the folder decides how far to write), collect, write each,
// save_progress, then the transaction is committed, then committed(). After a database_error the object is worthless:
// make a new one, which goes on from what the trace says.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collector/drain/clock_map.h"
#include "collector/drain/process_rows.h"
#include "collector/drain/process_watch.h"
#include "collector/drain/segment_supplier.h"
#include "collector/drain/thread_drain.h"
#include "collector/drain/trace_file.h"
#include "collector/drain/trace_writer.h"
#include "collector/spool/spool_file.h"

namespace lastref::drain {

class spool_drain;

struct drain_limits {
    // Records that are read before their turn has come, all threads of a process together. At most that many, and a few
    // more, are held in memory and written in one transaction.
    std::uint32_t records_ahead = 262144;
};

// A record whose turn has come.
struct ready_record {
    std::uint64_t ns;  // its key as CLOCK_MONOTONIC
    waiting_record what;
    spool_drain* from;
};

// Threads: one. Not movable.
class spool_drain final : private record_sink {
  public:
    // `trace` must have its start time, and must not have the process complete already (process_rows::complete_in).
    spool_drain(spool::spool_file file, trace_file& trace, trace_writer& writer, drain_limits const& limits);
    spool_drain(spool_drain const&) = delete;
    spool_drain& operator=(spool_drain const&) = delete;

    // Does the process live, and what time is it: before the reading, which then misses nothing that was published
    // earlier.
    void note_now();
    void read();
    // Whatever this process publishes from now on sorts at or behind this time, as far as that can be known. The
    // greatest number where nothing more comes.
    std::uint64_t limit_ns();
    // No way on was found: what waits is written next, in whatever order.
    void force();
    // Hands over what sorts before `limit_ns`.
    void collect(std::uint64_t limit_ns, std::vector<ready_record>& ready);
    void write(ready_record const& ready);
    void save_progress();
    // The rows are safe: segments go back to the program.
    void committed();

    // The process is gone or replaced, and all that it left is written.
    bool complete() const;
    // The rows of the process's end. The spool may be removed once they are committed.
    void finish();
    // Recording ends while the process runs on.
    void leave_unfinished();
    void set_exit(exit_result const& result) { exit_ = result; }
    // Another image of the process has a spool of its own by now: nothing more comes into this one.
    void set_replaced() { replaced_ = true; }
    bool replaced() const { return replaced_ || last_phase_ == spool::phase::exec; }

    bool alive() const { return alive_; }
    bool read_everything() const;
    std::size_t waiting() const { return waiting_.size(); }
    std::uint64_t calls() const { return calls_; }
    std::uint64_t records_read() const { return records_read_; }
    spool::spool_file& file() { return file_; }

  private:
    void wait(waiting_record const& record) override;
    void module(spool::record_view record) override { rows_.module(record); }
    void python_frame(spool::record_view record) override { rows_.python_frame(record); }
    void text(thread_drain& thread, spool::text_kind kind, std::string const& text) override;
    void damaged(spool::loss which) override { writer_.add_loss(rows_.id(), which, 1); }
    void entered(std::uint32_t segment_index, std::uint64_t serial) override;

    void read_clock_pairs();
    void load_earlier_work();
    thread_drain& thread(std::uint32_t slot, std::uint64_t serial, std::uint32_t tid);
    void read_slot(std::uint32_t slot, std::uint32_t most);
    void read_what_is_left();
    bool is_stray(std::uint32_t index, spool::segment_header const& segment) const;
    void find_strays();
    bool read_strays();
    bool is_recorded(thread_drain const& thread, std::uint32_t api, std::uint64_t begin) const;
    void add_calls_in_flight();
    void name_thread(thread_drain& thread);
    void look_at_threads();
    void release_slot(thread_drain& thread);

    void write_call(ready_record const& ready);
    void write_phase(ready_record const& ready);
    void write_range(ready_record const& ready);
    void write_nvtx(ready_record const& ready);
    void write_nvtx_name(thread_drain& by, spool::record_view record);
    void write_close(ready_record const& ready, event_row const& row);
    event_row row_of(ready_record const& ready);
    std::optional<stack_id> stack_of(waiting_record const& record);
    void add_row(ready_record const& ready, event_row const& row, bool open);
    std::int64_t time(std::uint64_t ticks) const;
    std::int64_t last_sign_of_life() const;

    struct stray {
        std::uint64_t serial;
        std::uint32_t index;
    };

    spool::spool_file file_;
    std::unique_ptr<segment_supplier> supplier_;  // uses file_
    trace_file& trace_;
    trace_writer& writer_;
    drain_limits limits_;
    process_rows rows_;
    process_watch watch_;
    clock_map clock_;
    std::unordered_map<std::uint64_t, thread_progress> earlier_;  // by thread serial, from the trace
    std::unordered_map<std::int64_t, std::vector<thread_drain::open_call>> earlier_open_;  // by thread row
    std::unordered_map<std::uint64_t, std::unique_ptr<thread_drain>> threads_;             // by thread serial
    std::unordered_set<std::uint64_t> finished_;  // serials of threads that are read to their end and forgotten
    std::vector<std::uint64_t> entered_;          // serial last entered, by segment
    std::vector<stray> strays_;                   // not read yet, in reverse order
    std::vector<waiting_record> waiting_;
    std::deque<spool::call_record> in_flight_;
    std::optional<spool::phase> last_phase_;
    thread_drain const* last_phase_of_ = nullptr;
    exit_result exit_;
    clock_reading now_{};
    std::uint64_t soft_limit_ = 0;  // ticks; by what threads hold back, for a bounded time only
    std::uint64_t hard_limit_ = 0;  // ticks; by records not read yet
    std::uint64_t own_limit_ = 0;   // ticks; what limit_ns() said last
    std::uint64_t watermark_ = 0;   // ticks; all that was read and sorts before it is written
    std::uint64_t newest_key_ = 0;
    std::uint64_t written_ns_ = 0;  // newest row of former passes
    std::uint64_t newest_ns_ = 0;   // and of this one
    std::uint64_t calls_ = 0, records_read_ = 0;
    std::uint64_t looked_ns_ = 0;
    std::uint32_t new_segments_ = 0;  // entered in this pass
    bool alive_ = true;
    bool replaced_ = false;
    bool forced_ = false;
    enum class leftovers { unknown, strays, none } leftovers_ = leftovers::unknown;
};

}  // namespace lastref::drain
