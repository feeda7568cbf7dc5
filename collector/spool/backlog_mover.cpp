#include "collector/spool/backlog_mover.h"

#include <cstddef>
#include <cstring>

namespace lastref::spool {
namespace {

// Everything but the header's links; `committed` comes last, when the copy goes into the chain.
void copy_segment(segment_header const& from, segment_header& to) {
    to.committed.store(0, std::memory_order_relaxed);
    to.thread_slot = from.thread_slot;
    to.serial = from.serial;
    to.thread_serial = from.thread_serial;
    to.order = from.order;
    to.tid = from.tid;
    to.next.store(from.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to.clock_ticks = from.clock_ticks;
    to.clock_ns = from.clock_ns;
    auto const records = sizeof(segment_header);
    std::memcpy(reinterpret_cast<std::byte*>(&to) + records, reinterpret_cast<std::byte const*>(&from) + records,
                segment_size - records);
}

}  // namespace

bool backlog_mover::move_one() {
    link where{};
    if (!find(where)) return false;
    std::uint32_t const copy = file_.take_cold_segment();
    if (copy == no_segment) return false;
    segment_header const& original = *file_.segment(where.original);
    copy_segment(original, *file_.segment(copy));
    if (!put_in_place(where, copy)) {
        file_.recycle_segment(copy);
        return false;
    }
    file_.recycle_segment(where.original);
    return true;
}

bool backlog_mover::find(link& found) {
    auto& places = file_.reading();
    std::lock_guard const lock(places.mutex);
    auto const slots = static_cast<std::uint32_t>(places.by_slot.size());
    if (moved_to_.size() < slots) moved_to_.resize(slots);
    for (std::uint32_t i = 0; i < slots; ++i) {
        std::uint32_t const slot = (next_slot_ + i) % slots;
        if (!find_in_chain(slot, places.by_slot[slot], found)) continue;
        next_slot_ = slot + 1;
        return true;
    }
    return false;
}

// The first segment behind the reader and behind the last copy that its thread has left for another.
bool backlog_mover::find_in_chain(std::uint32_t slot, reading_place const& reader, link& found) {
    if (reader.thread_serial == 0) return false;
    reading_place const& copy = moved_to_[slot];
    bool const ahead = copy.thread_serial == reader.thread_serial && copy.serial > reader.serial;
    std::uint32_t const before = ahead ? copy.segment : reader.segment;
    segment_header const* const segment = file_.segment(before);
    segment_header const* const original =
        segment ? file_.segment(segment->next.load(std::memory_order_acquire)) : nullptr;
    if (!original || original->next.load(std::memory_order_acquire) == no_segment) return false;
    // A chain that is damaged is left to the reader.
    if (original->thread_serial != reader.thread_serial || original->serial <= segment->serial) return false;
    found = {slot, reader, before, segment->next.load(std::memory_order_relaxed), original->serial};
    return true;
}

// The reader may have come to the original meanwhile, and the program may have got it back even: then the copy is
// worth nothing.
bool backlog_mover::put_in_place(link const& where, std::uint32_t copy) {
    auto& places = file_.reading();
    std::lock_guard const lock(places.mutex);
    reading_place const& reader = places.by_slot[where.slot];
    if (reader.thread_serial != where.reader.thread_serial || reader.serial >= where.serial) return false;
    segment_header& segment = *file_.segment(copy);
    // The program left the original before it was found here, so all of it had been published.
    segment.committed.store(file_.segment(where.original)->committed.load(std::memory_order_acquire),
                            std::memory_order_relaxed);
    file_.segment(where.before)->next.store(copy, std::memory_order_release);
    moved_to_[where.slot] = {reader.thread_serial, copy, where.serial};
    return true;
}

}  // namespace lastref::spool
