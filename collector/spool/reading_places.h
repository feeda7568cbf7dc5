// Where the readers of a spool's chains are: so that a backlog_mover changes links only ahead of them.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "schema/spool.h"

namespace lastref::spool {

// The segment that a chain's reader has entered last.
struct reading_place {
    std::uint64_t thread_serial = 0;  // 0: nobody reads the chain
    std::uint32_t segment = no_segment;
    std::uint64_t serial = 0;  // of the segment
};

// Threads: any, with `mutex` held. Whoever follows a link to another segment, or changes one, holds it meanwhile.
struct reading_places {
    std::mutex mutex;
    std::vector<reading_place> by_slot;  // index of the thread slot

    void enter(std::uint32_t slot, reading_place const& place) {
        if (by_slot.size() <= slot) by_slot.resize(slot + std::size_t{1});
        by_slot[slot] = place;
    }
    void leave(std::uint32_t slot) {
        if (slot < by_slot.size()) by_slot[slot] = {};
    }
};

}  // namespace lastref::spool
