// Moves what the drain has not come to yet out of the segments that the program works with, so that the program gets
// those back at once.
//
// A segment that the program has used before is in its page table and partly in its caches. One that it has never used
// costs it a page fault every 64 records, as much as all the rest of recording: 20 µs a segment, measured on a virtual
// machine of two cores. While the drain is behind, every segment would be such a one. So full segments that no reader
// has reached are copied into others, which the program never touches; the copy takes the original's place in the
// chain, and the original goes onto the free list.
//
// Both sides may be killed at any instant: until the one store that puts the copy into the chain it is in no chain, and
// from then on the original is in none. What is left over then is a segment with the serial of one that is in the
// chain, which nobody takes for a lost one.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/spool/spool_file.h"

namespace lastref::spool {

// Threads: one, while others read the chains. `file` is writable and outlives it.
class backlog_mover {
  public:
    explicit backlog_mover(spool_file& file) : file_(file) {}

    // Moves one segment and gives it back to the program; false where there is none to move, or no room for the copy.
    bool move_one();

  private:
    struct link {
        std::uint32_t slot;  // of the thread
        reading_place reader;
        std::uint32_t before;    // the segment whose `next` names …
        std::uint32_t original;  // … this one, which is full
        std::uint64_t serial;    // of the original
    };

    bool find(link& found);
    bool find_in_chain(std::uint32_t slot, reading_place const& reader, link& found);
    bool put_in_place(link const& where, std::uint32_t copy);

    spool_file& file_;
    std::vector<reading_place> moved_to_;  // by thread slot: the last copy in its chain
    std::uint32_t next_slot_ = 0;
};

}  // namespace lastref::spool
