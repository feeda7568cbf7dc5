// Reads one thread's chain of segments, as far as the thread has published it.
//
// Memory order: the producer stores `committed` and `next` with release; both are loaded here with acquire, so a slot
// below `committed` is complete, and a segment that `next` names has its header. A thread publishes everything of a
// segment before it links the next, so `committed` is loaded once more after `next` has been seen.
#pragma once

#include <compare>
#include <cstdint>

#include "collector/spool/record_check.h"
#include "collector/spool/spool_file.h"

namespace lastref::spool {

// A place in a thread's chain: serials only increase along it, so places compare.
struct chain_place {
    std::uint64_t segment_serial = 0;
    std::uint32_t slot = 0;
    auto operator<=>(chain_place const&) const = default;
};

// Takes what a chain_reader finds, in the order in which the thread wrote it.
class chain_visitor {
  public:
    virtual void segment_begins(std::uint32_t index, segment_header const& segment) = 0;
    // A record that has been checked. Returns false to stop behind it.
    virtual bool record(record_view record) = 0;
    // A record, or a stretch of unknown length, that cannot be read. Damage is told each time it is passed.
    virtual void damaged_record(chain_place where) = 0;
    // The segment has a successor, and everything in it has been handed over.
    virtual void segment_finished() = 0;
    // The chain leads to something that is no segment of this thread.
    virtual void unreadable_segment(chain_place after) = 0;

  protected:
    ~chain_visitor() = default;
};

// Threads: one. Holds no pointer into the spool between calls.
class chain_reader {
  public:
    // `slot` is the owner's thread slot in use number `thread_serial`; entry point numbers in records are below
    // `entry_points`.
    chain_reader(std::uint32_t slot, std::uint64_t thread_serial, std::uint32_t entry_points)
        : slot_(slot), thread_serial_(thread_serial), entry_points_(entry_points) {}

    enum class outcome { all, stopped };
    // Hands over what was published since the last call, until the visitor stops it.
    outcome read(spool_file& file, chain_visitor& visitor);
    // Goes on in a segment that no chain leads to any more (a link before it is damaged). Its serial must be greater
    // than that of every segment read before. A segment that `read` was stopped in is finished first.
    outcome read_stray(spool_file& file, std::uint32_t index, chain_visitor& visitor);

    std::uint32_t thread_slot_index() const { return slot_; }
    std::uint64_t thread_serial() const { return thread_serial_; }
    // Up to where records have been handed over.
    chain_place place() const { return {serial_, position_}; }
    // The chain goes on where it can't be followed; nothing more comes from it.
    bool broken() const { return broken_; }

  private:
    bool enter_next(spool_file& file, chain_visitor& visitor);
    bool enter(spool_file& file, std::uint32_t index, chain_visitor& visitor);
    outcome read_records(spool_file& file, segment_header const& segment, chain_visitor& visitor);
    bool step(record_view record, std::uint32_t committed, spool_file& file, chain_visitor& visitor);
    void search_from(chain_visitor& visitor);

    std::uint32_t slot_;
    std::uint64_t thread_serial_;
    std::uint32_t entry_points_;
    std::uint32_t segment_ = no_segment;
    std::uint64_t serial_ = 0;
    std::uint32_t position_ = 0;
    bool searching_ = false;
    bool broken_ = false;
};

}  // namespace lastref::spool
