// Contexts: which one a call uses, how they begin and end.
#pragma once

#include "tests/simdriver/core/call.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

// The current context, alive: 201 where there is none, 709 where a destroyed one is still current.
CUresult current_context(call const& c, context_ptr& out);
// Null for an ordinal that does not exist.
device* find_device(CUdevice ordinal);

context_ptr make_context(device& owner, unsigned flags);
// Waits for its work, then frees what belongs to it: streams, events, modules, ordinary allocations; not stream-ordered
// memory and VMM. Threads on which it is current keep it so, dead.
void end_context(call const& c, context& ending);
// Makes the device's primary context if there is none, and brings it to life.
context_ptr retain_primary(device& owner);

}  // namespace lastref::simdriver
