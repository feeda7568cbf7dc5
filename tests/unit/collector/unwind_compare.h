// Compares the collector's unwinder with libgcc's, frame by frame, at the place where it is called.
//
// No heap: it is called in signal handlers.
#pragma once

#include <cstdint>

#include "collector/preload/unwind/walk.h"

namespace lastref::unwind::test {

inline constexpr std::uint32_t frames = 64;  // spool::max_stack_frames

struct stack {
    std::uintptr_t addresses[frames];
    std::uintptr_t places[frames];
    std::uint32_t count;
    bool cut;
};

struct comparison {
    stack own, libgcc;
    outcome result;
};

// What all comparisons so far came to.
struct tally {
    std::uint64_t compared;   // walks
    std::uint64_t whole;      // that reached the end of the stack
    std::uint64_t different;  // that found other frames: other ones, or more
    std::uint64_t refused;    // stacks that are not the thread's own
    comparison first_difference;
    comparison first_not_whole;
    comparison latest;
};

tally& so_far();
void forget();

// Prints both stacks with the names of their functions.
void describe(comparison const& one);

dl_find_object_function find_object();
thread_stack& own_stack();

// `frame_address` and `return_address` of the function whose callers are compared.
void compare(void const* frame_address, void const* return_address);

}  // namespace lastref::unwind::test

extern "C" void unwind_check();
