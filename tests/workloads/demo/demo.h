// The demo: faults in the lifetime of CUDA resources, each with a healthy twin that does the same right. Every function
// is kept out of line, so that its name stands in the stacks of the report.
#pragma once

#include <cuda.h>

#define LASTREF_DEMO_STEP __attribute__((noinline))

namespace lastref::demo {

// A payload of an executable graph that is never destroyed: its destructor never runs.
void fault_payload_held_by_executable_graph();
void healthy_payload_of_destroyed_executable_graph();

// A free on a thread without a context: 201, and nobody tries again.
void fault_free_without_context(CUcontext context);
void healthy_free_repeated_with_context(CUcontext context);

// Memory of one thread's default stream, freed on another thread's: nothing orders the two.
void fault_free_on_other_threads_default_stream(CUcontext context);
void healthy_free_on_own_threads_default_stream(CUcontext context);

// A payload whose destructor has run, and noted its buffer for later; nobody drains the queue.
void fault_cleanup_never_drained();
void healthy_cleanup_drained();

// Device memory that nobody frees.
void fault_device_memory_leaked();
void healthy_device_memory_freed();

// Memory that a static object frees, after the driver has shut down.
void fault_released_after_main();
void healthy_released_before_exit();

}  // namespace lastref::demo
