// Addresses and completeness of the exported symbols.
#pragma once

#include "tests/simdriver/abi/symbols.h"

namespace lastref::simdriver {

// The symbol's address inside this library, never an interposer's: as the real driver, it is linked with -Bsymbolic.
void* exported_address(symbol_id id);

// Whether the simulated driver does anything for it; otherwise it returns CUDA_ERROR_NOT_SUPPORTED.
bool has_behaviour(symbol_id id);

}  // namespace lastref::simdriver
