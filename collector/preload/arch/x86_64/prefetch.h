// x86-64: asking for a cache line ahead of a store.
#pragma once

namespace lastref::preload::arch {

// PREFETCHW, which asks for the line as one's own. What compilers make of __builtin_prefetch(…, 1) for the baseline of
// x86-64 is PREFETCHT0: it brings a line that another processor has read as shared, and the store has to wait all the
// same. Processors without the instruction take it for a no-operation.
inline void prefetch_to_write(void* line) {
    asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
}

}  // namespace lastref::preload::arch
