// Finds the interpreter and takes over the imports of it, in whatever modules are loaded, whenever they were loaded.
//
// The dynamic linker's own tables are read at moments at which that can do no harm: after driver calls of the program's
// own, at most once in a millisecond or two, and before a user object is made whose destructor has not been seen yet.
// So what a destructor calls has been taken over before it can run; in callbacks nothing is looked for.
#pragma once

#include <cstdint>

namespace lastref::preload::cpython {

// Called once, where recording is not forbidden. Without it nothing here does anything.
void prepare();

// After a driver call that ended at `now` (clock ticks), when process::the.next_watch has come.
void watch(std::uint64_t now);

// Before a user object with this destructor is made.
void watch_destructor_slowly(void const* destructor);
inline constexpr std::uint32_t most_destructors = 64;
extern void const* known_destructors[most_destructors];
inline void watch_destructor(void const* destructor) {
    auto const place = reinterpret_cast<std::uintptr_t>(destructor) >> 4;
    if (__atomic_load_n(&known_destructors[place % most_destructors], __ATOMIC_RELAXED) != destructor) [[unlikely]]
        watch_destructor_slowly(destructor);
}

// The program asks dlsym for Py_AddPendingCall, in a way in which it can be answered for.
bool is_add_pending_call(void* handle, char const* name);
// What it gets in place of the function found.
void* handed_out(void* found);

void forget_parent();

}  // namespace lastref::preload::cpython
