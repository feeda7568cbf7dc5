// The loaded objects that stacks and callbacks point into, each written once with its build id and load address.
#pragma once

#include "collector/preload/record/ring.h"

namespace lastref::preload::modules {

// Writes a module record into the ring if the module that holds `address` is not in the spool yet. Takes no lock where
// glibc has _dl_find_object (2.35 and newer); on older ones modules are not noted here.
void note(thread_ring& r, std::uintptr_t address);

void prepare();
// Forgets what is written: a forked child begins its own spool.
void forget_all();

}  // namespace lastref::preload::modules
