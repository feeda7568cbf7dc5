// The program's callbacks, wrapped: what the driver calls is ours, which records the begin, calls the program's
// function, and records the end. Wrapping must not change what the program sees: whatever reads a callback back unwraps
// it.
//
// A wrapped callback is a (function, argument) pair of a process-lifetime slab; the driver holds the pair's address as
// the argument. Pairs of user objects and of host functions launched outside a graph are called once and go back to the
// slab after that. Pairs that are in a graph may be called any number of times, also through clones and executable
// graphs that we never see, so they are never given back; the same (function, argument) is the same pair.
#pragma once

#include <cstdint>

#include "collector/preload/driver/cuda_abi.h"

namespace lastref::preload::callbacks {

struct pair {
    void* function;
    void* argument;
    std::uint64_t object;      // user object: its handle, set once it is known
    std::uint32_t index;       // in the slab
    std::uint32_t next;        // index + 1 of the next free pair of a thread or batch
    std::uint32_t next_batch;  // index + 1 of the first pair of the next batch in the common list
};

// A pair for one call, or null if the slab is exhausted (the callback then stays unwrapped, and is counted).
pair* make_once(void* function, void* argument);
// The pair of (function, argument) that graphs may keep for ever, or null as above.
pair* intern(void* function, void* argument);
void give_back(pair* p);

// What the driver is given as the function; the pair is its argument.
void user_object_destroyed(void* p);
void host_function_once(void* p);
void host_function_in_graph(void* p);
void stream_callback(CUstream stream, CUresult status, void* p);

// Restores the program's function and argument where they are ours.
void unwrap(CUhostFn& function, void*& argument);

}  // namespace lastref::preload::callbacks
