// Calls of the driver that no hook sees: see bound_past.cpp.
#pragma once

namespace lastref::preload::driver {

// Counts the references of loaded objects that lead to the driver past the hooks. Once, at the end.
void count_bound_past();

}  // namespace lastref::preload::driver
