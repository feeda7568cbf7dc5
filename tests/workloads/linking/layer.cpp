// A shared library that defines a symbol which another library, later in the search order, defines too.
#include <dlfcn.h>

#include "layers.h"

extern "C" int workload_layer() {
    return WORKLOAD_LAYER;
}

// What RTLD_NEXT and RTLD_DEFAULT mean to a caller in this library.
extern "C" int WORKLOAD_NEXT_OF() {
    auto const next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "workload_layer"));
    return next ? next() : 0;
}

extern "C" int WORKLOAD_DEFAULT_OF() {
    auto const found = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "workload_layer"));
    return found ? found() : 0;
}
