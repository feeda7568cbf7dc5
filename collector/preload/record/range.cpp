#include "collector/preload/record/range.h"

#include <sched.h>

#include <cstring>

#include "collector/preload/arch/clock.h"
#include "collector/preload/record/process.h"

namespace lastref::preload::ranges {
namespace {

constexpr std::size_t most_open = 64;

struct open_range {
    std::uint64_t number;  // 0: free
    std::uint16_t length;
    bool written;
    char name[spool::range_name_capacity];
};

open_range open_ranges[most_open];
std::uint64_t last_number = 0;

// Guards the two above. Tests begin and end a few thousand times a second at most, so a word to spin on will do; the
// hot path never comes here.
std::atomic<bool> busy{false};

class guard {
  public:
    guard() {
        while (busy.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    ~guard() { busy.store(false, std::memory_order_release); }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;
};

open_range* find(std::uint64_t number) {
    for (auto& each : open_ranges)
        if (each.number == number) return &each;
    return nullptr;
}

// While it lives, a signal handler that interrupts this thread writes no record.
class writing_mark {
  public:
    explicit writing_mark(thread_ring& r) : r_(r), before_(r.writing) {
        r_.writing = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~writing_mark() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        r_.writing = before_;
    }
    writing_mark(writing_mark const&) = delete;
    writing_mark& operator=(writing_mark const&) = delete;

  private:
    thread_ring& r_;
    std::uint8_t before_;
};

bool write(thread_ring& r, spool::range_record const& head, char const* name) {
    writing_mark const mark(r);
    std::size_t const first = sizeof(spool::range_record::name);
    std::uint32_t const slots =
        1 + static_cast<std::uint32_t>(head.length > first ? (head.length - first + 63) / 64 : 0);
    std::byte* const place = rings::room(r, slots);
    if (place == nullptr) return false;
    spool::range_record record = head;
    record.type = spool::record_type::range;
    record.slots = static_cast<std::uint8_t>(slots);
    memcpy(place, &record, offsetof(spool::range_record, name));
    memcpy(place + offsetof(spool::range_record, name), name, head.length);
    rings::publish(r, slots);
    return true;
}

bool write_begin(thread_ring& r, open_range const& range, std::uint64_t at) {
    spool::range_record record{};
    record.length = range.length;
    record.context = r.context;
    record.number = range.number;
    record.at = at;
    return write(r, record, range.name);
}

void write_end(thread_ring& r, std::uint64_t number) {
    spool::range_record record{};
    record.end = 1;
    record.context = r.context;
    record.number = number;
    record.at = now_ticks();
    write(r, record, "");
}

// This thread's ring if the process records already. Taken before the guard: what takes it may be the process's first,
// and then introduces the open ranges.
thread_ring* ring_of_this_thread() {
    if (process::in_forked_child() || process::the.current.load(std::memory_order_acquire) != process::state::recording)
        return nullptr;
    thread_ring* const r = rings::acquire();
    return r != nullptr && r->writing == 0 ? r : nullptr;
}

std::uint64_t begin(char const* name, std::size_t length) {
    thread_ring* const r = ring_of_this_thread();
    guard const alone;
    open_range* const range = find(0);
    if (range == nullptr) return 0;
    range->number = ++last_number;
    range->length = static_cast<std::uint16_t>(length);
    memcpy(range->name, name, length);
    range->written = r != nullptr && write_begin(*r, *range, now_ticks());
    return range->number;
}

void end(std::uint64_t number) {
    thread_ring* const r = ring_of_this_thread();
    guard const alone;
    open_range* const range = find(number);
    if (range == nullptr) return;
    if (range->written && r != nullptr) write_end(*r, number);
    range->number = 0;
}

}  // namespace

void introduce(thread_ring& r) {
    guard const alone;
    // They were open before the first call: the spool's first stamp is before that, too.
    std::uint64_t const at = process::the.header->first_clock.ticks.load(std::memory_order_relaxed);
    for (auto& range : open_ranges)
        if (range.number != 0 && !range.written) range.written = write_begin(r, range, at);
}

void forget_parent() {
    for (auto& range : open_ranges) range.written = false;
    busy.store(false, std::memory_order_relaxed);
}

}  // namespace lastref::preload::ranges

#define LASTREF_EXPORT __attribute__((visibility("default")))

extern "C" LASTREF_EXPORT unsigned long long lastref_range_begin(char const* name) {
    using namespace lastref;
    if (name == nullptr || *name == 0) return 0;
    return preload::ranges::begin(name, strnlen(name, spool::range_name_capacity));
}

extern "C" LASTREF_EXPORT void lastref_range_end(unsigned long long number) {
    if (number != 0) lastref::preload::ranges::end(number);
}
