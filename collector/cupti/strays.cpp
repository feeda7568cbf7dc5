#include "collector/cupti/strays.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

namespace lastref::cupti::strays {
namespace {

// Of each entry point: a walk up the stack takes microseconds, and entry points that are not recorded by design come
// here too.
constexpr uint32_t most_looked_at = 64;
constexpr int frames = 48;

cupti_file::header* header = nullptr;
unsigned (*open_calls)() = nullptr;
std::atomic<uint32_t> looked_at[cupti_file::max_calls];

// The driver and those who listen to it stand between the caller and us.
bool is_in_between(char const* path) {
    char const* const slash = strrchr(path, '/');
    char const* const name = slash != nullptr ? slash + 1 : path;
    for (char const* const known : {"libcuda.so", "libcupti.so", "liblastref"})
        if (strncmp(name, known, strlen(known)) == 0) return true;
    return false;
}

char const* calling_module() {
    void* stack[frames];
    int const depth = backtrace(stack, frames);
    for (int i = 0; i < depth; ++i) {
        Dl_info where;
        if (dladdr(stack[i], &where) != 0 && where.dli_fname != nullptr && !is_in_between(where.dli_fname))
            return where.dli_fname;
    }
    return nullptr;
}

bool is_same(cupti_file::stray_caller const& one, uint32_t call, char const* module) {
    return one.ready.load(std::memory_order_acquire) == 1 && one.call == call &&
           strncmp(one.module, module, sizeof one.module - 1) == 0;
}

// Two threads may enter the same one twice: the reader adds up.
void count(uint32_t call, char const* module) {
    uint32_t const known = header->stray_callers.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < known && i < cupti_file::max_stray_callers; ++i) {
        if (!is_same(header->strays[i], call, module)) continue;
        header->strays[i].calls.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (known >= cupti_file::max_stray_callers) return;
    uint32_t const place = header->stray_callers.fetch_add(1, std::memory_order_acq_rel);
    if (place >= cupti_file::max_stray_callers) return;
    auto& fresh = header->strays[place];
    fresh.call = call;
    fresh.calls.store(1, std::memory_order_relaxed);
    strncpy(fresh.module, module, sizeof fresh.module - 1);
    fresh.ready.store(1, std::memory_order_release);
}

}  // namespace

void prepare(cupti_file::header& of) {
    void* first[1];
    backtrace(first, 1);  // loads what it needs, now rather than inside a call
    open_calls = reinterpret_cast<unsigned (*)()>(dlsym(RTLD_DEFAULT, "lastref_open_calls"));
    header = &of;
}

void look_at(uint32_t call) {
    if (open_calls == nullptr || open_calls() != 0) return;
    if (looked_at[call].fetch_add(1, std::memory_order_relaxed) >= most_looked_at) return;
    if (char const* const module = calling_module()) count(call, module);
}

}  // namespace lastref::cupti::strays
