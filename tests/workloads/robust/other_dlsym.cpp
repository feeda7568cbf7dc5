// Another library that exports dlsym, as some profilers do: it passes everything on, and says at the end whether it was
// asked at all.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

using dlsym_function = void* (*)(void*, char const*);
std::atomic<int> asked{0};

struct at_end {
    ~at_end() {
        if (std::getenv("OTHER_DLSYM_SAYS") != nullptr)
            std::printf("other dlsym: %s\n", asked > 0 ? "asked" : "never asked");
    }
} says;

}  // namespace

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, char const* name) {
    static dlsym_function const next = reinterpret_cast<dlsym_function>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
    ++asked;
    return next(handle, name);
}
