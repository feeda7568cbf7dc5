// dlsym as the program would have had it without us: null where it has none (arch/*/libc_versions.h).
#pragma once

#include <dlfcn.h>

extern "C" {
// The next definition of dlsym after ours, found once; arch/*/dlsym.S jumps through it.
extern void* (*lastref_next_dlsym)(void* handle, char const* name) __attribute__((visibility("hidden")));
void lastref_find_next_dlsym() __attribute__((visibility("hidden")));
}

namespace lastref::preload {

inline void* next_dlsym(void* handle, char const* name) {
    if (lastref_next_dlsym == nullptr) lastref_find_next_dlsym();
    return lastref_next_dlsym != nullptr ? lastref_next_dlsym(handle, name) : nullptr;
}

}  // namespace lastref::preload
