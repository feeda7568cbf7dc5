// The calling thread's ring: where its records go. See schema/spool.h for the protocol.
#pragma once

#include <type_traits>

#include "collector/preload/arch/clock.h"
#include "collector/preload/record/process.h"

namespace lastref::preload {

struct stack_cache;

struct thread_ring {
    std::byte* base;           // the current segment; null while the thread has none
    std::uint32_t used;        // slots filled and published
    std::uint16_t next_stack;  // next stack number in this segment
    std::uint8_t writing;      // a record is being written: a signal handler that interrupts must not write another
    std::uint8_t unusable;     // no room for this thread; tried again after a while
    std::uint8_t no_stacks;    // that its stacks are missing has been counted
    spool::thread_slot* slot;
    std::uint64_t segment_serial;
    std::uint64_t last_stamp;  // of the latest record: no later call of this thread began before it
    std::uint64_t fork_mark;   // value of process::the.fork_mark when the ring was taken
    std::uint32_t depth;       // recorded calls and callbacks open on this thread
    std::uint32_t callbacks;   // callbacks among them
    std::uint32_t order;       // of the current segment in the chain
    std::uint32_t slot_index;
    // The current context as the hooks saw it. A thread begins with none, and only hooked calls change it.
    std::uint64_t context_handle;
    std::uint16_t context;
    stack_cache* stacks;
    void const* noted_function;  // the callback's whose module was noted last
    // Free callback pairs that this thread keeps for itself: indexes linked through the pairs, see hooks/callbacks.cpp.
    std::uint32_t free_pairs;       // number
    std::uint32_t first_free_pair;  // index + 1, 0 = none
};
static_assert(std::is_trivially_destructible_v<thread_ring> && std::is_trivially_default_constructible_v<thread_ring>);

extern thread_local constinit thread_ring ring __attribute__((tls_model("initial-exec")));

namespace rings {

// The thread's ring, ready to be written, or null: this thread is not recorded now.
thread_ring* acquire_slowly(thread_ring& r);
inline thread_ring* acquire() {
    thread_ring& r = ring;
    if (r.base != nullptr && r.fork_mark == *process::the.fork_mark) [[likely]]
        return &r;
    return acquire_slowly(r);
}

// Leaves the current segment for a new one; false if there is none.
bool next_segment(thread_ring& r);

// Room for `slots` consecutive slots; null if there is none (counted).
std::byte* room_slowly(thread_ring& r);
inline std::byte* room(thread_ring& r, std::uint32_t slots) {
    if (r.used + slots <= spool::slots_per_segment) [[likely]]
        return r.base + std::size_t{r.used} * spool::slot_size;
    return room_slowly(r);
}

// Publishes the slots just filled. Pairs with the drain's acquire load of `committed`.
inline void publish(thread_ring& r, std::uint32_t slots) {
    r.used += slots;
    reinterpret_cast<spool::segment_header*>(r.base)->committed.store(r.used, std::memory_order_release);
}

void write_text(thread_ring& r, spool::text_kind kind, char const* text, std::size_t length);
void write_phase(spool::phase what, std::uint32_t value = 0);

// For the forked child: forgets what belongs to the parent.
void abandon();
// Makes the key whose destructor gives a thread's ring back.
void prepare();

}  // namespace rings
}  // namespace lastref::preload
