// A program that can do without a driver, and is run where nothing has loaded one: it must find none.
#include <dlfcn.h>

#include <cstdio>

extern "C" int cuInit(unsigned int flags) __attribute__((weak));
extern "C" int cuMemAlloc_v2(unsigned long long* memory, unsigned long size) __attribute__((weak));

namespace {

int surprises = 0;

void absent(char const* what, bool present) {
    std::printf("%s: %s\n", what, present ? "present" : "absent");
    surprises += present;
}

}  // namespace

int main() {
    absent("weak reference to cuInit", &cuInit != nullptr);
    absent("weak reference to cuMemAlloc_v2", &cuMemAlloc_v2 != nullptr);
    absent("cuInit by RTLD_DEFAULT", dlsym(RTLD_DEFAULT, "cuInit") != nullptr);
    absent("cuInit by RTLD_NEXT", dlsym(RTLD_NEXT, "cuInit") != nullptr);
    absent("cuGetProcAddress_v2 by RTLD_DEFAULT", dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2") != nullptr);
    void* const self = dlopen(nullptr, RTLD_NOW);
    absent("cuInit in the program's own handle", dlsym(self, "cuInit") != nullptr);
    absent("a loaded libcuda.so.1", dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr);
    return surprises ? 1 : 0;
}
