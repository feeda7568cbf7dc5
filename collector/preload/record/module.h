// The loaded objects that stacks and callbacks point into, each written once with its build id and load address.
#pragma once

#include <link.h>

#include "collector/preload/record/ring.h"

namespace lastref::preload::modules {

// The mapped range of the module that a call of note() found.
struct range {
    std::uintptr_t begin, end;
    bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

// Writes a module record into the ring if the module that holds `address` is not in the spool yet. Takes no lock where
// glibc has _dl_find_object (2.35 and newer); on older ones modules are not noted here.
// Returns the module's range, empty where it is in none.
range note(thread_ring& r, std::uintptr_t address);

// Whether the object is loaded and has code at `address`.
bool is_loaded(link_map const* object, void const* address);

void prepare();
// Forgets what is written: a forked child begins its own spool.
void forget_all();

}  // namespace lastref::preload::modules
