// One recorded thread on its way from the spool into the trace: what has been read of it, what waits for its turn in
// the order of time, and which of its segments are still needed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/trace_writer.h"
#include "collector/spool/chain_reader.h"

namespace lastref::drain {

class thread_drain;

// Where a stack number of a segment is defined, and what it is in the trace once that has been asked for.
struct segment_stack {
    std::uint32_t slot = 0;  // 0: not defined
    std::optional<stack_id> id;
};

// A segment that has been entered and not yet given back.
struct held_segment {
    std::uint32_t index;
    std::uint64_t serial;
    spool::segment_header const* header;
    std::uint32_t waiting = 0;  // records of it that are not in the trace yet
    bool finished = false;      // read to its end, and it has a successor
    std::vector<segment_stack> stacks;
};

// A record that waits for its turn.
struct waiting_record {
    std::uint64_t key;  // clock ticks by which it sorts
    spool::record_view view;
    thread_drain* thread;
    held_segment* segment;  // nullptr: not of a segment
};

// Takes what a thread wrote: what sorts by time goes on to the queue, the rest is dealt with at once.
class record_sink {
  public:
    virtual void wait(waiting_record const& record) = 0;
    virtual void module(spool::record_view record) = 0;
    virtual void python_frame(spool::record_view record) = 0;
    virtual void text(thread_drain& thread, spool::text_kind kind, std::string const& text) = 0;
    virtual void damaged(spool::loss which) = 0;
    virtual void entered(std::uint32_t segment_index, std::uint64_t serial) = 0;

  protected:
    ~record_sink() = default;
};

// The clock ticks by which a call, open, close, phase, range or nvtx record sorts: see docs/adr/0002-order.md.
std::uint64_t sort_key(spool::record_view record);
bool sorts_by_begin(spool::call_record const& call);

// How far an earlier drain came with a thread: table spool_progress.
struct thread_progress {
    thread_id row;
    spool::chain_place from;     // everything before it is written …
    spool::chain_place read_to;  // … and of what lies before this, what sorts below the watermark
    std::uint64_t watermark = 0;
};

// Threads: one. Not movable: waiting records point to it.
class thread_drain final : private spool::chain_visitor {
  public:
    thread_drain(record_sink& sink, std::uint32_t slot, std::uint64_t serial, std::uint32_t tid,
                 thread_progress const& done);
    thread_drain(thread_drain const&) = delete;
    thread_drain& operator=(thread_drain const&) = delete;

    // Reads on until about `most` records wait; see read_everything().
    void read(spool::spool_file& file, std::uint32_t most);
    void read_stray(spool::spool_file& file, std::uint32_t index, std::uint32_t most);
    bool read_everything() const { return read_everything_; }
    // Where not everything was read: what comes later sorts at or behind this.
    std::uint64_t unread_from() const { return unread_from_; }

    // A record of this thread has been written.
    void written(held_segment* segment);
    std::uint32_t waiting() const { return waiting_; }

    // What table spool_progress should say now; empty where it says so already.
    std::optional<thread_progress> progress(std::uint64_t watermark);

    // The stack that a number means in a segment; the definition stands in the segment itself.
    segment_stack* stack(held_segment& segment, std::uint16_t number);

    // Segments in the front of the chain that are read, written and left behind by the thread. Takes them off this
    // list.
    std::vector<std::uint32_t> take_done_segments();
    // All that are left, once the thread has ended and all is written.
    std::vector<std::uint32_t> take_all_segments();
    std::uint32_t first_segment() const { return held_.empty() ? spool::no_segment : held_.front().index; }

    std::uint32_t slot() const { return reader_.thread_slot_index(); }
    std::uint64_t serial() const { return reader_.thread_serial(); }
    std::uint32_t tid() const { return tid_; }
    thread_id row() const { return row_; }
    spool::chain_place place() const { return reader_.place(); }
    // Texts of which the end never came.
    std::size_t unfinished_texts() const { return texts_.size(); }

    // Rows of calls and callbacks that have begun, innermost last.
    struct open_call {
        std::optional<std::uint64_t> begin;  // ticks; empty for those that an earlier drain wrote
        std::uint16_t api;
        event_id row;
    };
    std::vector<open_call> open_calls;
    bool named = false;            // by a text record, which counts more than what /proc says
    std::string name;              // that /proc gave last
    bool ended = false;            // the thread had ended before it was read last
    bool gone = false;             // the system knows it no more
    std::uint64_t last_begin = 0;  // ticks; of the call or open that was read last

  private:
    struct partial_text {
        std::string bytes;
        held_segment* from;  // held until the text is complete, so that a later drain can read it from its beginning
    };

    void segment_begins(std::uint32_t index, spool::segment_header const& segment) override;
    bool record(spool::record_view record) override;
    void damaged_record(spool::chain_place where) override;
    void segment_finished() override;
    void unreadable_segment(spool::chain_place after) override;

    void define_stack(spool::record_view record);
    void add_text(spool::record_view record, bool done_before);
    void enqueue(spool::record_view record, bool read_before);
    bool may_stop_behind(spool::record_view record);

    record_sink& sink_;
    spool::chain_reader reader_;
    std::uint32_t tid_;
    thread_id row_;
    thread_progress done_;
    thread_progress saved_;
    std::deque<held_segment> held_;
    std::map<spool::text_kind, partial_text> texts_;
    std::uint32_t waiting_ = 0;
    std::uint32_t most_ = 0;
    std::uint32_t read_ = 0;
    std::uint64_t unread_from_ = 0;
    bool read_everything_ = true;
};

}  // namespace lastref::drain
