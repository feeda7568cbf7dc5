// Python frames of recorded stacks, see docs/adr/0010-python-frames.md.
#pragma once

#include <link.h>

#include "collector/preload/python/frames.h"
#include "collector/preload/record/ring.h"
#include "collector/preload/unwind/thread_stack.h"

namespace lastref::preload::python_frames {

// A thread's room for reading them.
struct room {
    python::found_frames found;
    python::asked_memory asked;
    python::frame_names names;
};

// A loaded object that a stack points into: perhaps it is the interpreter. For each object once.
void offer(thread_ring& r, link_map const& object);

// The calling thread's Python frames, into `into.found`. Costs some 20 ns a frame; some system calls more for a thread
// other than the first that does not hold the interpreter's lock.
void read(thread_ring& r, unwind::thread_stack const& own_stack, room& into);

// A native stack to be completed: `places` are where its return addresses lie, 0 where that is not known.
struct native_stack {
    std::uintptr_t const* addresses;
    std::uintptr_t const* places;
    std::uint32_t count;
};

// The words of the stack as the spool has it: its addresses, and before that of an evaluator the Python frames that it
// runs. Writes what those are called into the ring where it is not in the spool yet. Returns how many words there are.
std::uint32_t merge(thread_ring& r, native_stack const& native, room& from, std::uint64_t* words);

// Forgets what is written: a forked child begins its own spool.
void forget_all();

}  // namespace lastref::preload::python_frames
