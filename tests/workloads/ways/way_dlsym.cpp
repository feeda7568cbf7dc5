// The way of libcudart, PyTorch and JAX: dlopen, then dlsym. With the argument `per-thread` it looks up the per-thread
// variants.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "sequence.h"

int main(int argc, char** argv) {
    bool const per_thread = argc > 1 && std::string(argv[1]) == "per-thread";
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::printf("no driver\n");
        return 2;
    }
    auto const find = [&](char const* symbol, char const* suffix) {
        return dlsym(library, (std::string(symbol) + (per_thread ? suffix : "")).c_str());
    };
    lastref::workload::driver_functions call{};
#define WAY(name, symbol, version, suffix)                                     \
    call.name = reinterpret_cast<decltype(call.name)>(find(#symbol, #suffix)); \
    if (!call.name) std::printf(#symbol ": not found\n");
#include "entry_points.def"
    return lastref::workload::run_sequence(call);
}
