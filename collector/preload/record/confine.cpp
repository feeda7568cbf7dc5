#include "collector/preload/record/confine.h"

#include <cerrno>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/record/process.h"

extern "C" {

__attribute__((visibility("hidden"))) void* lastref_next_prctl = nullptr;
__attribute__((visibility("hidden"))) void* lastref_next_syscall = nullptr;

void lastref_find_next_confining() {
    lastref_next_prctl = lastref::preload::next_dlsym(RTLD_NEXT, "prctl");
    lastref_next_syscall = lastref::preload::next_dlsym(RTLD_NEXT, "syscall");
}

void lastref_confining() {
    int const saved = errno;
    lastref::preload::process::prepare_confinement();
    errno = saved;
}
}
