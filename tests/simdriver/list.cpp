// simdriver-list: prints the entry points of the simulated driver that return CUDA_ERROR_NOT_SUPPORTED, one a line;
// with
// --all every entry point and what it is. The library is loaded by name, so that no driver need be present.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    bool const all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
    void* const library = dlopen(SIMDRIVER_DEFAULT, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "simdriver-list: %s\n", dlerror());
        return 2;
    }
    using query = char const* (*)(unsigned, int*);
    auto const symbol = reinterpret_cast<query>(dlsym(library, "lastref_simdriver_symbol"));
    if (!symbol) return 2;
    int works = 0;
    for (unsigned index = 0; char const* const name = symbol(index, &works); ++index) {
        if (all)
            std::printf("%s %s\n", works ? "simulated    " : "not supported", name);
        else if (!works)
            std::puts(name);
    }
    return 0;
}
