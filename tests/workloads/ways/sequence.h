// One sequence of calls, whatever way its functions were found. What it prints does not depend on the way.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

namespace lastref::workload {

struct driver_functions {
#define WAY(name, symbol, version, suffix) decltype(&::symbol) name;
#include "entry_points.def"
#undef WAY
};

// Returns the process's exit status.
int run_sequence(driver_functions const& call);

}  // namespace lastref::workload
