// The recording process: its spool, its settings, its phases.
//
// Rules for everything in this library, which runs inside other people's programs:
//  - After the first recorded call: no lock, no heap, no system call but when a segment is full or a thread is new.
//  - Thread-local state is trivially destructible and initial-exec: records are still written after a thread's
//  destructors.
//  - A failure of ours switches recording off or drops a record and counts it. It never reaches the program.
//  - Only libc, no libstdc++ at run time: nothing that throws, allocates or needs a guard.
#pragma once

#include <atomic>
#include <cstdint>

#include "schema/event_kind.h"
#include "schema/spool.h"

namespace lastref::preload {

struct thread_ring;

struct settings {
    stack_setting stacks = stack_setting::create;
    std::uint64_t spool_max = std::uint64_t{4} << 30;
    bool all_durations = false;  // two stamps for every call
    bool verify_context = false;
    bool python_frames = true;
    bool arguments = true;  // the values of arguments may stand in the trace
};

namespace process {

enum class state : int { idle, starting, recording, off };

// What the hot path reads of the process, together.
struct shared {
    std::atomic<state> current{state::idle};
    spool::spool_header* header = nullptr;
    std::byte* base = nullptr;  // of the mapping
    std::uint32_t max_segments = 0;
    settings options;
    std::atomic<std::uint8_t> exit_flags{0};  // spool::flag_after_exit, flag_after_teardown
    // A word that the kernel clears in a forked child (MADV_WIPEONFORK), also after a fork that ran no handlers.
    std::uint64_t const* fork_mark = nullptr;
    std::atomic<bool> has_interpreter{false};  // cpython::the_interpreter is there to be asked
    std::atomic<std::uint64_t> next_watch{0};  // clock ticks from which on loaded modules are looked through again
    std::atomic<bool> confined{false};         // see record/confine.h
};
extern shared the;

// Makes the spool if there is none yet; true if this process records. Called at a thread's first recorded call.
bool ensure_recording();

// Takes a free segment, from the free list or by growing the file; spool::no_segment if there is none.
std::uint32_t take_segment();
spool::segment_header* segment(std::uint32_t index);
spool::thread_slot* thread_slot(std::uint32_t index);
// Makes sure that the file has room behind a thread slot (the slots' part of the file is sparse).
bool back_thread_slot(std::uint32_t index);

void count(spool::loss what, std::uint64_t n = 1);
void count_unhooked(char const* name);

// Writes what the trace says of the process (command line, environment, …) into the first ring.
void introduce(thread_ring& r);

// Called before cuInit and after it succeeded: exit handlers around the driver's own, which it registers in between.
void driver_initializing();
// Called after the first cuInit that succeeded.
void driver_initialized(int driver_version);

bool in_forked_child();

// The program is about to confine itself: takes ahead of time what recording may need.
void prepare_confinement();
inline bool confined() {
    return the.confined.load(std::memory_order_relaxed);
}

}  // namespace process
}  // namespace lastref::preload
