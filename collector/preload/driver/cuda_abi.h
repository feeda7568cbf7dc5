// cuda.h with every ABI version declared under its own name: without this, `cuMemAlloc` would be a macro for
// `cuMemAlloc_v2`, and older versions and per-thread variants would have no declaration to be checked against.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
