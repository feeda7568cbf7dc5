// Walks the calling thread's stack. Why there is an unwinder of our own: docs/adr/0006-unwinder.md.
//
// No lock, no heap, no system call; may run in signal handlers and after a thread's destructors.
#pragma once

#include <cstdint>

#include "collector/preload/unwind/find_object.h"
#include "collector/preload/unwind/thread_stack.h"

namespace lastref::unwind {

// What has to be known of a frame to find its caller.
struct registers {
    std::uintptr_t pc;        // where it goes on: behind a call
    std::uintptr_t pc_place;  // where that address was read
    std::uintptr_t stack;     // stack pointer after the return
    std::uintptr_t frame;     // frame pointer after the return
};

// The caller of a function that has a frame pointer, from its frame address (__builtin_frame_address(0)).
registers caller_of(void const* frame_address);

// Where a walk puts what it finds.
struct found_frames {
    std::uintptr_t* addresses;  // program counters, innermost first
    std::uintptr_t* places;     // where each was read
    std::uint32_t capacity;
    std::uint32_t count = 0;
    bool cut = false;  // the stack is deeper than the capacity
};

enum class outcome : std::uint8_t {
    whole,       // to the stack's end, or cut: what libgcc's unwinder finds
    not_simple,  // a frame needs more than a rule; what was found so far is right
};

// From `innermost`, whose frame lies on `stack`, outwards. Reads nothing but that stack, from `innermost.stack` on, and
// the unwind tables of the objects that program counters lie in.
outcome walk(dl_find_object_function find_object, thread_stack const& stack, registers innermost, found_frames& into);

}  // namespace lastref::unwind
