// One recorded call, from before the driver is entered until its record is published. Used by the wrappers.
#pragma once

#include "collector/preload/hooks/api_table.h"
#include "collector/preload/record/context.h"
#include "collector/preload/record/ring.h"
#include "collector/preload/record/stack.h"

namespace lastref::preload {

// What a wrapper knows at compile time of its entry point.
struct call_traits {
    hooks::abi id;
    event_order order;
    stack_setting stacks;
};
constexpr call_traits traits_of(hooks::abi id) {
    event_kind_info const& kind = info(hooks::info(id).kind);
    return {id, kind.order, kind.stacks};
}

class recorded_call {
  public:
    // Before the driver is entered. `frame` and `caller`: the wrapper's __builtin_frame_address(0) and return address.
    template <call_traits traits>
    [[gnu::always_inline]] static inline recorded_call enter() {
        recorded_call call;
        call.ring_ = rings::acquire();
        if (call.ring_ == nullptr) [[unlikely]]
            return call;
        thread_ring& r = *call.ring_;
        call.depth_ = r.depth++;
        call.context_ = r.context;
        call.begin_ = now_ticks();
        spool::thread_slot& slot = *r.slot;
        if constexpr (traits.order == event_order::begin) {
            // While this stands, the drain writes nothing later: see docs/adr/0002-order.md.
            if (slot.release_begin.load(std::memory_order_relaxed) == 0) {
                slot.release_begin.store(call.begin_, std::memory_order_release);
                call.holds_order_ = true;
            }
        }
        if (call.depth_ == 0) {
            slot.call_api.store(static_cast<std::uint32_t>(traits.id) + 1, std::memory_order_relaxed);
            slot.call_begin.store(call.begin_, std::memory_order_release);
        }
        return call;
    }

    // For kinds that may block for long: the begin is on file before the driver is entered. `operands` fills the record
    // with what is known beforehand.
    template <call_traits traits, class Operands>
    [[gnu::always_inline]] inline void mark_begin(Operands&& operands) {
        if (ring_ == nullptr) [[unlikely]]
            return;
        std::byte* const place = begin_record(1);
        if (place == nullptr) return;
        spool::call_record record = head(traits.id, spool::record_type::open);
        operands(record);
        *reinterpret_cast<spool::call_record*>(place) = record;
        finish_record(1);
        opened_ = true;
    }

    [[gnu::always_inline]] inline bool recording() const { return ring_ != nullptr; }

    // The driver has returned: publishes the record. `operands` evaluates the captures of the table.
    template <call_traits traits, class Operands>
    [[gnu::always_inline]] inline void leave(unsigned result, void* frame, void* caller, Operands&& operands) {
        std::uint64_t const end = now_ticks();
        thread_ring& r = *ring_;
        r.depth = depth_;
        if (r.base != nullptr) [[likely]] {
            std::uint16_t stack = 0;
            bool const wants_stack = process::the.options.stacks >= traits.stacks ||
                                     (result != 0 && process::the.options.stacks != stack_setting::off);
            if (wants_stack) stack = stacks::capture(r, frame, caller);
            if (std::byte* const place = begin_record(1); place != nullptr) [[likely]] {
                spool::call_record record =
                    head(traits.id, opened_ ? spool::record_type::close : spool::record_type::call);
                record.result = static_cast<std::uint16_t>(result);
                record.duration = spool::pack_duration(end - begin_);
                record.stack = stack;
                operands(record);
                *reinterpret_cast<spool::call_record*>(place) = record;
                finish_record(1);
            }
        }
        if (holds_order_) r.slot->release_begin.store(0, std::memory_order_release);
        if (depth_ == 0) r.slot->call_begin.store(0, std::memory_order_release);
        if (process::the.options.verify_context) [[unlikely]]
            verify_context();
    }

    [[gnu::always_inline]] inline std::uint64_t begin() const { return begin_; }

  private:
    [[gnu::always_inline]] inline std::byte* begin_record(std::uint32_t slots) {
        thread_ring& r = *ring_;
        if (r.writing != 0) [[unlikely]] {  // we are in a signal handler that interrupted this very function
            process::count(spool::loss::records_dropped);
            return nullptr;
        }
        r.writing = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::byte* const place = rings::room(r, slots);
        if (place == nullptr) [[unlikely]]
            r.writing = 0;
        return place;
    }
    [[gnu::always_inline]] inline void finish_record(std::uint32_t slots) {
        rings::publish(*ring_, slots);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ring_->writing = 0;
    }
    [[gnu::always_inline]] inline spool::call_record head(hooks::abi id, spool::record_type type) const {
        spool::call_record record{};
        record.api = static_cast<std::uint16_t>(id);
        record.type = type;
        record.slots = 1;
        record.flags = static_cast<std::uint8_t>((ring_->callbacks != 0 ? spool::flag_in_callback : 0) |
                                                 (depth_ > ring_->callbacks ? spool::flag_nested : 0) |
                                                 process::the.exit_flags.load(std::memory_order_relaxed));
        record.depth = static_cast<std::uint8_t>(depth_ < 255 ? depth_ : 255);
        record.begin = begin_;
        record.context = context_;
        return record;
    }

    thread_ring* ring_ = nullptr;
    std::uint64_t begin_ = 0;
    std::uint32_t depth_ = 0;
    std::uint16_t context_ = 0;
    bool holds_order_ = false;
    bool opened_ = false;
};

}  // namespace lastref::preload
