// One recorded call, from before the driver is entered until its record is published. Used by the wrappers.
#pragma once

#include "collector/preload/arch/prefetch.h"
#include "collector/preload/hooks/api_table.h"
#include "collector/preload/python/interpreter_phases.h"
#include "collector/preload/python/watch.h"
#include "collector/preload/record/context.h"
#include "collector/preload/record/ring.h"
#include "collector/preload/record/stack.h"

namespace lastref::preload {

// What a wrapper knows at compile time of its entry point.
struct call_traits {
    hooks::abi id;
    event_order order;
    stack_setting stacks;
    stamp_count stamps;
};
constexpr call_traits traits_of(hooks::abi id) {
    event_kind_info const& kind = info(hooks::info(id).kind);
    return {id, kind.order, kind.stacks, kind.stamps};
}

class recorded_call {
  public:
    // Before the driver is entered.
    template <call_traits traits>
    [[gnu::always_inline]] static inline recorded_call enter() {
        recorded_call call;
        call.ring_ = rings::acquire();
        if (call.ring_ == nullptr) [[unlikely]]
            return call;
        thread_ring& r = *call.ring_;
        constexpr bool sorts_by_begin = traits.order != event_order::end;
        // What is released, and every callback, must stand behind the phase that it falls into.
        if constexpr (sorts_by_begin)
            if (process::the.has_interpreter.load(std::memory_order_relaxed)) [[unlikely]]
                cpython::note_phase();
        call.depth_ = r.depth++;
        call.context_ = r.context;
        if constexpr (sorts_by_begin) call.hold_order();
        if (traits.stamps == stamp_count::two || sorts_by_begin || process::the.options.all_durations)
            call.begin_ = now_ticks();
        spool::thread_slot& slot = *r.slot;
        if (call.depth_ == 0) {
            // For a process that dies in this call; where no begin was taken, the thread's last stamp is the bound.
            slot.call_api.store(static_cast<std::uint32_t>(traits.id) + 1, std::memory_order_relaxed);
            slot.call_begin.store(call.begin_ != 0 ? call.begin_ : r.last_stamp, std::memory_order_release);
        }
        return call;
    }

    // For kinds that may block for long: the begin is on file before the driver is entered. `operands` fills the record
    // with what is known beforehand.
    template <call_traits traits, class Operands>
    [[gnu::always_inline]] inline void mark_begin(Operands&& operands) {
        if (ring_ == nullptr) [[unlikely]]
            return;
        opened_ = write(traits.id, spool::record_type::open, 0, begin_, 0, 0, 0, operands);
        release_order();
    }

    [[gnu::always_inline]] inline bool recording() const { return ring_ != nullptr; }

    // The driver has returned: publishes the record. `operands` evaluates the captures of the table; `frame` and
    // `caller` are the wrapper's frame address and return address.
    template <call_traits traits, class Operands>
    [[gnu::always_inline]] inline void leave(unsigned result, void* frame, void* caller, Operands&& operands) {
        thread_ring& r = *ring_;
        settings const& options = process::the.options;
        bool const one_stamp = traits.stamps == stamp_count::one && !options.all_durations;
        constexpr bool sorts_by_begin = traits.order != event_order::end;
        if constexpr (!sorts_by_begin) hold_order();
        std::uint64_t const end = one_stamp && sorts_by_begin ? begin_ : now_ticks();
        std::uint64_t const begin = one_stamp ? end : begin_;
        r.depth = depth_;
        if (r.base != nullptr) [[likely]] {  // null after a fork inside a callback
            std::uint16_t stack = 0;
            if (options.stacks >= traits.stacks || (result != 0 && options.stacks != stack_setting::off))
                stack = stacks::capture(r, frame, caller);
            write(traits.id, opened_ ? spool::record_type::close : spool::record_type::call, result, begin,
                  spool::pack_duration(end - begin), stack, one_stamp ? spool::flag_one_stamp : 0, operands);
            r.last_stamp = end;
            release_order();
            if (depth_ == 0) r.slot->call_begin.store(0, std::memory_order_release);
            if constexpr (!sorts_by_begin)
                if (end >= process::the.next_watch.load(std::memory_order_relaxed)) [[unlikely]]
                    cpython::watch(end);
        }
    }

  private:
    // From before the stamp by which a record sorts until the record is published, the drain must write nothing later:
    // the thread may be preempted in between for as long as the machine likes. See docs/adr/0002-order.md.
    [[gnu::always_inline]] inline void hold_order() {
        auto& hold = ring_->slot->order_hold;
        if (hold.load(std::memory_order_relaxed) != 0) return;  // a call around this one holds already
        hold.store(ring_->last_stamp | 1, std::memory_order_release);
        holds_order_ = true;
    }
    [[gnu::always_inline]] inline void release_order() {
        if (holds_order_) ring_->slot->order_hold.store(0, std::memory_order_release);
        holds_order_ = false;
    }

    // Writes straight into the ring, whole words at a time: a record put together elsewhere and copied would stall on
    // loads that span the stores before them.
    template <class Operands>
    [[gnu::always_inline]] inline bool write(hooks::abi id, spool::record_type type, unsigned result,
                                             std::uint64_t begin, std::uint32_t duration, std::uint16_t stack,
                                             unsigned flags, Operands&& operands) {
        thread_ring& r = *ring_;
        if (r.writing != 0) [[unlikely]] {  // in a signal handler that interrupted this very function
            process::count(spool::loss::records_dropped);
            return false;
        }
        r.writing = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::byte* const place = rings::room(r, 1);
        if (place == nullptr) [[unlikely]] {
            r.writing = 0;
            return false;
        }
        flags |= process::the.exit_flags.load(std::memory_order_relaxed);
        if (r.callbacks != 0) [[unlikely]]
            flags |= spool::flag_in_callback;
        if (depth_ > r.callbacks) [[unlikely]]
            flags |= spool::flag_nested;
        // The drain has read the segment since it was filled last, and a driver call that takes a lock waits for every
        // store before it: ask for the lines ahead of time.
        arch::prefetch_to_write(place + 8 * spool::slot_size);
        auto* const words = reinterpret_cast<std::uint64_t*>(place);
        words[0] = static_cast<std::uint64_t>(id) | static_cast<std::uint64_t>(type) << 16 | std::uint64_t{1} << 24 |
                   static_cast<std::uint64_t>(result & 0xffff) << 32 | static_cast<std::uint64_t>(flags) << 48 |
                   static_cast<std::uint64_t>(depth_ < 255 ? depth_ : 255) << 56;
        words[1] = begin;
        words[2] = duration | static_cast<std::uint64_t>(stack) << 32 | static_cast<std::uint64_t>(context_) << 48;
        for (int i = 3; i < 8; ++i) words[i] = 0;
        operands(*reinterpret_cast<spool::call_record*>(place));
        rings::publish(r, 1);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        r.writing = 0;
        return true;
    }

    thread_ring* ring_ = nullptr;
    std::uint64_t begin_ = 0;
    std::uint32_t depth_ = 0;
    std::uint16_t context_ = 0;
    bool holds_order_ = false;
    bool opened_ = false;
};
// The words written above are the record's fields on a little-endian machine.
static_assert(offsetof(spool::call_record, result) == 4 && offsetof(spool::call_record, flags) == 6 &&
              offsetof(spool::call_record, begin) == 8 && offsetof(spool::call_record, duration) == 16 &&
              offsetof(spool::call_record, stack) == 20 && offsetof(spool::call_record, context) == 22 &&
              offsetof(spool::call_record, stream) == 24);

}  // namespace lastref::preload
