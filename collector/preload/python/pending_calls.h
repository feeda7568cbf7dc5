// Py_AddPendingCall as the program's modules call it, and the pending calls that it takes. Both are recorded in a
// process that records already; neither ever fails where CPython would not, and a call that is refused stays refused.
#pragma once

#include "collector/preload/python/interpreter_phases.h"

namespace lastref::preload::cpython {

// What stands in the program's import tables. Called by any thread, with or without the interpreter's lock, also from
// callbacks of the driver: takes no lock and no memory.
int add_pending_call(pending_function function, void* argument);

}  // namespace lastref::preload::cpython
