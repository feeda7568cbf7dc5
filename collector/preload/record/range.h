// Named parts of the run, such as tests: the program says when they begin and end, through the two functions that this
// library exports for it.
#pragma once

#include <cstddef>

#include "collector/preload/record/ring.h"

extern "C" {

// Begins a range of the process and returns its number; 0 where it is not kept: without a name, or with too many open
// ones. Names longer than spool::range_name_capacity are cut. Any thread; not from a signal handler.
//
// A process that makes no driver call leaves no trace for its ranges' sake: what is open then is written when it does.
unsigned long long lastref_range_begin(char const* name);

// Ends it, on any thread. 0 and numbers that name no open range do nothing.
void lastref_range_end(unsigned long long number);
}

namespace lastref::preload::ranges {

// Writes the ranges that are open into the first ring of the process.
void introduce(thread_ring& r);

// For the forked child: its trace has none of them yet, and no thread is inside these functions.
void forget_parent();

}  // namespace lastref::preload::ranges
