// What cuGetProcAddress finds.
#pragma once

#include <string_view>

#include "cuda_abi.h"

namespace lastref::simdriver {

struct lookup {
    void* address = nullptr;
    bool name_known = false;  // though not in the version asked for
};

// The newest ABI of the entry point that the CUDA version (1000 * major + 10 * minor) knows; with the per-thread flag
// its
// `_ptsz` or `_ptds` variant where there is one.
lookup look_up(std::string_view name, int version, cuuint64_t flags);

bool known_lookup_flags(cuuint64_t flags);

}  // namespace lastref::simdriver
