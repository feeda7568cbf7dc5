#include "collector/spool/chain_reader.h"

namespace lastref::spool {

chain_reader::outcome chain_reader::read(spool_file& file, chain_visitor& visitor) {
    if (broken_) return outcome::all;
    if (segment_ == no_segment && !enter_next(file, visitor)) return outcome::all;
    for (;;) {
        segment_header const* const segment = file.segment(segment_);
        if (!segment) return outcome::all;
        if (read_records(file, *segment, visitor) == outcome::stopped) return outcome::stopped;
        if (segment->next.load(std::memory_order_acquire) == no_segment) return outcome::all;
        if (read_records(file, *segment, visitor) == outcome::stopped) return outcome::stopped;
        visitor.segment_finished();
        if (!enter_next(file, visitor)) return outcome::all;
    }
}

// A mover may put a copy into the place of the next segment until we have entered it.
bool chain_reader::enter_next(spool_file& file, chain_visitor& visitor) {
    auto& places = file.reading();
    std::unique_lock lock(places.mutex);
    auto const& link = segment_ == no_segment ? file.thread(slot_).first_segment : file.segment(segment_)->next;
    std::uint32_t const next = link.load(std::memory_order_acquire);
    segment_header const* const segment = next == no_segment ? nullptr : file.segment(next);
    if (segment) places.enter(slot_, {thread_serial_, next, segment->serial});
    lock.unlock();
    return next != no_segment && enter(file, next, visitor);
}

chain_reader::outcome chain_reader::read_stray(spool_file& file, std::uint32_t index, chain_visitor& visitor) {
    segment_header const* const segment = file.segment(index);
    if (!segment) return outcome::all;
    if (segment_ != index || serial_ != segment->serial) {
        if (!enter(file, index, visitor)) return outcome::all;
    }
    if (read_records(file, *segment, visitor) == outcome::stopped) return outcome::stopped;
    visitor.segment_finished();
    broken_ = true;
    return outcome::all;
}

bool chain_reader::enter(spool_file& file, std::uint32_t index, chain_visitor& visitor) {
    segment_header const* const segment = file.segment(index);
    // Serials only increase, so a chain that leads back into itself ends here and not in an endless loop.
    if (!segment || segment->serial <= serial_ || segment->thread_serial != thread_serial_) {
        visitor.unreadable_segment(place());
        broken_ = true;
        return false;
    }
    segment_ = index;
    serial_ = segment->serial;
    position_ = 1;
    searching_ = false;
    visitor.segment_begins(index, *segment);
    return true;
}

chain_reader::outcome chain_reader::read_records(spool_file& file, segment_header const& segment,
                                                 chain_visitor& visitor) {
    std::uint32_t committed = segment.committed.load(std::memory_order_acquire);
    if (committed > slots_per_segment) {
        committed = slots_per_segment;
        search_from(visitor);
    }
    while (position_ < committed) {
        if (!step({&segment, position_}, committed, file, visitor)) return outcome::stopped;
    }
    return outcome::all;
}

bool chain_reader::step(record_view record, std::uint32_t committed, spool_file& file, chain_visitor& visitor) {
    check_limits const limits{committed, entry_points_, file.identity().first_ticks, searching_};
    record_state const state = check_record(record, limits);
    if (state == record_state::bad_length) {
        search_from(visitor);
        ++position_;
        return true;
    }
    if (state == record_state::bad_content) visitor.damaged_record(place());
    position_ += record.slots();
    return state == record_state::bad_content || visitor.record(record);
}

// How many records an unreadable stretch held is unknown: it counts as one.
void chain_reader::search_from(chain_visitor& visitor) {
    if (!searching_) visitor.damaged_record(place());
    searching_ = true;
}

}  // namespace lastref::spool
