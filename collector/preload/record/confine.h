// Programs that confine themselves by a seccomp filter, which may kill whoever opens or maps a file.
//
// The collector takes what it needs ahead of time, when the program asks for the filter, and makes no such system call
// from then on: segments come from the free list alone, which the drain refills from outside; threads beyond those
// prepared for, stacks of new threads and further callback pairs are counted as lost. Filters that were there before
// the program began, and those installed by inline assembly, are not seen.
#pragma once

extern "C" {
// Called by the exported prctl and syscall before a filter is asked for.
void lastref_confining() __attribute__((visibility("hidden")));
void lastref_find_next_confining() __attribute__((visibility("hidden")));
}
