// What the files of this folder share.
#pragma once

#include "tests/simdriver/abi/api.h"
#include "tests/simdriver/core/capture.h"
#include "tests/simdriver/core/contexts.h"
#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/pools.h"
#include "tests/simdriver/core/streams.h"

// Returns from the calling function with the first result that is an error.
#define SIM_TRY(expression)                                                                          \
    do {                                                                                             \
        if (CUresult const try_result = (expression); try_result != CUDA_SUCCESS) return try_result; \
    } while (false)

namespace lastref::simdriver {

// The value that a handle or pointer argument must have is missing.
template <class... Pointers>
bool any_null(Pointers... pointers) {
    return (!pointers || ...);
}

// Writes to an optional output.
template <class Target, class Value>
void put(Target* target, Value value) {
    if (target) *target = static_cast<Target>(value);
}

}  // namespace lastref::simdriver
