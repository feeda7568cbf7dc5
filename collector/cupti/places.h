// Where libcupti is searched, in this order, where the program has not loaded it already. `lastref doctor` looks in the
// same places. `major` is the toolkit's major version as a string literal.
#pragma once

#define LASTREF_CUPTI_VARIABLE "LASTREF_CUPTI_LIBRARY"  // a path that goes before all of them
#define LASTREF_CUPTI_PLACES(major)                                                                              \
    "libcupti.so." major, "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", \
        "libcupti.so"
