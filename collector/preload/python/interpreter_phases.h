// The CPython interpreter of this process, if there is one: found by its exported functions, and asked through those
// that need neither its lock nor a thread of its own. One interpreter a process; a second copy of the library is passed
// by.
#pragma once

#include <atomic>
#include <cstdint>

namespace lastref::preload::cpython {

using pending_function = int (*)(void*);
using add_pending_call_function = int (*)(pending_function, void*);

struct interpreter {
    int (*is_initialized)() = nullptr;
    int (*is_finalizing)() = nullptr;  // null: not exported
    void* (*main_state)() = nullptr;   // the main interpreter, null once it is deleted
    int (*finalize_ex)() = nullptr;
    void (*finalize)() = nullptr;
    int (*run_main)() = nullptr;
};
extern interpreter the_interpreter;  // filled in before `process::the.has_interpreter` is set

// The interpreter's own Py_AddPendingCall; null until it is known.
extern std::atomic<add_pending_call_function> real_add_pending_call;

// Writes the phases that the interpreter has come to since it was asked last. Called where process::the.has_interpreter
// is set, before whatever the phase must stand before. Takes no lock.
void note_phase();

// For the forked child: its trace says its interpreter's phases anew.
void forget_phase();

}  // namespace lastref::preload::cpython
