// Call stacks of recorded calls.
#pragma once

#include "collector/preload/record/ring.h"

namespace lastref::preload::stacks {

// The number in the current segment of the calling thread's stack, seen from the wrapper with the given frame address
// and return address; its definition is written into the ring before if the segment has none yet. 0: no stack.
//
// Walking 20 frames costs about half a microsecond (see ../unwind/walk.h), but programs call from the same places again
// and again. So the last stacks are kept with the addresses at which their return addresses lie: a stack whose every
// return address still lies at the same place, under the same frame, is the same stack. Comparing costs a load a frame.
std::uint16_t capture(thread_ring& r, void* frame, void* caller);

// Makes sure that the module holding `address` (a callback's function) is in the trace.
void note_module(thread_ring& r, void const* address);

// Finds the unwinders; before the first record, not on the hot path.
void prepare();

// Makes what this thread's stacks will need, ahead of time.
void prepare_thread(thread_ring& r);

// Drops what is cached for this thread.
void forget(thread_ring& r);

}  // namespace lastref::preload::stacks
