// The free list of a spool: segments that are in nobody's chain, shared by the recorded program (pops) and the drain
// (pushes).
//
// A stack without locks whose head carries a tag beside the index of its first segment; the tag changes with every push
// and pop, so a head that was taken and put back in between is not mistaken for the old one. Usable by the injected
// library: <atomic> and <cstdint> only, nothing that needs libstdc++ at run time.
//
// Both sides may die at any instant; the worst that leaves behind is a segment which is in no chain and not in the
// list.
//
// `base` is always the address at which the whole spool file is mapped. Threads: every function may be called by any
// thread of any process that has the spool mapped, recycle() only by the drain that owns the spool.
#pragma once

#include "schema/spool.h"

namespace lastref::spool {

inline spool_header* header_at(void* base) {
    return static_cast<spool_header*>(base);
}
inline thread_slot* thread_slot_at(void* base, std::uint32_t index) {
    return reinterpret_cast<thread_slot*>(static_cast<char*>(base) + header_bytes) + index;
}
inline segment_header* segment_at(void* base, std::uint32_t index) {
    return reinterpret_cast<segment_header*>(static_cast<char*>(base) + segment_offset(index));
}

inline constexpr std::uint64_t empty_free_list = no_segment;  // the header's initial `free_list`

constexpr std::uint64_t free_list_head(std::uint64_t former, std::uint32_t index) {
    return ((former >> 32) + 1) << 32 | index;
}

// Puts a segment on the list. The caller owns the segment and gives it up.
inline void push_free(void* base, std::uint32_t index) {
    auto& list = header_at(base)->free_list;
    segment_header* const segment = segment_at(base, index);
    std::uint64_t head = list.load(std::memory_order_relaxed);
    do {
        segment->free_next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
        // Release pairs with the acquire in pop_free: whoever takes the segment sees `free_next`, and may overwrite
        // what the drain has read from it before.
    } while (!list.compare_exchange_weak(head, free_list_head(head, index), std::memory_order_release,
                                         std::memory_order_relaxed));
    header_at(base)->free_segments.fetch_add(1, std::memory_order_relaxed);
}

// Takes a segment off the list; the caller owns it from then on. Returns no_segment when the list is empty.
inline std::uint32_t pop_free(void* base) {
    auto& header = *header_at(base);
    std::uint64_t head = header.free_list.load(std::memory_order_acquire);
    for (;;) {
        auto const index = static_cast<std::uint32_t>(head);
        // An index beyond the file means that somebody damaged the list: better no free segment than a wild write.
        if (index >= header.segments.load(std::memory_order_acquire)) return no_segment;
        // Another thread may have taken this segment meanwhile. Then the value is stale, and the exchange fails on the
        // tag.
        std::uint32_t const next = segment_at(base, index)->free_next.load(std::memory_order_relaxed);
        if (header.free_list.compare_exchange_weak(head, free_list_head(head, next), std::memory_order_acquire,
                                                   std::memory_order_acquire)) {
            header.free_segments.fetch_sub(1, std::memory_order_relaxed);
            return index;
        }
    }
}

// Gives back a segment whose records are all committed to the trace. `committed` goes to 0 first, so that a reader
// which looks at segments outside the chains does not take what the trace already has for new; a producer that takes
// the segment sets it to 1 after the rest of the header. `serial` stays: it tells the producer that the pages have been
// used before.
inline void recycle(void* base, std::uint32_t index) {
    segment_at(base, index)->committed.store(0, std::memory_order_relaxed);
    push_free(base, index);
}

}  // namespace lastref::spool
