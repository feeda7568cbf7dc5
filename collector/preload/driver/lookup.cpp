// The program asks for a driver function: by dlsym or by cuGetProcAddress. It gets our wrapper exactly where it would
// have got the driver's function, and what it would have got without us in every other case.
#include <link.h>

#include <cstring>

#include "collector/nvtx/injection.h"
#include "collector/preload/driver/dlsym.h"
#include "collector/preload/driver/driver.h"
#include "collector/preload/python/watch.h"

#define LASTREF_EXPORT __attribute__((visibility("default")))
#define LASTREF_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

void* (*lastref_next_dlsym)(void*, char const*) = nullptr;

// Asked for with a version, so that it is glibc's dlsym and never ours; that one then is asked for the next without a
// version, which an interposer behind us has as well.
void lastref_find_next_dlsym() {
    if (dlvsym == nullptr) return;
    using function = void* (*)(void*, char const*);
    void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");  // x86-64 before 2.34
    void* const next = found != nullptr ? reinterpret_cast<function>(found)(RTLD_NEXT, "dlsym") : nullptr;
    lastref_next_dlsym = reinterpret_cast<function>(next != nullptr ? next : found);
}

LASTREF_HIDDEN bool lastref_dlsym_is_ours(void* handle, char const* name, void* caller);
LASTREF_HIDDEN void* lastref_dlsym_of_driver(void* handle, char const* name, void* caller);
}

namespace lastref::preload::driver {
namespace {

link_map* module_of(void const* address) {
    Dl_info info;
    link_map* map = nullptr;
    return dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 ? map : nullptr;
}

bool is_ours(void const* address) {
    return module_of(address) == module_of(&lastref_next_dlsym);
}

// What the program would have found if our symbols were not there: the next in the global scope, or in the scope of the
// caller (a plugin that was itself linked with -lcuda). A program without a driver must still find none.
void* behind_ours(char const* name, void* caller) {
    if (void* const next = next_dlsym(RTLD_NEXT, name); next != nullptr) return next;
    link_map* const map = module_of(caller);
    if (map == nullptr || is_ours(caller)) return nullptr;
    void* const local = next_dlsym(map, name);  // glibc's handle of a loaded object is its link_map
    return local != nullptr && !is_ours(local) ? local : nullptr;
}

// Does `caller` come before us in the order of loading, so that its RTLD_NEXT reaches us? Those behind us (an
// interposer that our wrapper may itself be calling) must get what is behind them.
bool is_before_us(void* caller) {
    link_map const* const wanted = module_of(caller);
    for (link_map const* map = module_of(&lastref_next_dlsym)->l_prev; map != nullptr; map = map->l_prev) {
        if (map == wanted) return true;
    }
    return false;
}

// RTLD_NEXT of a caller before us: another preloaded library in between, then what is behind us.
void* next_of(char const* name, void* caller) {
    link_map* const own = module_of(&lastref_next_dlsym);
    for (link_map* map = module_of(caller)->l_next; map != nullptr && map != own; map = map->l_next) {
        if (void* const found = next_dlsym(map, name); found != nullptr && module_of(found) == map) return found;
    }
    return next_dlsym(RTLD_NEXT, name);
}

void* without_us(void* handle, char const* name, void* caller) {
    if (handle == RTLD_NEXT) return next_of(name, caller);
    void* const found = next_dlsym(handle, name);
    return found != nullptr && is_ours(found) ? behind_ours(name, caller) : found;
}

}  // namespace
}  // namespace lastref::preload::driver

using namespace lastref::preload;

bool lastref_dlsym_is_ours(void* handle, char const* name, void* caller) {
    if (dladdr1 == nullptr) return false;
    if (name[0] == 'I') return lastref::nvtx::is_initialization(name) && handle != RTLD_DEFAULT && handle != RTLD_NEXT;
    if (name[0] == 'P') return cpython::is_add_pending_call(handle, name);
    if (driver::hooked_name(name)) return handle != RTLD_NEXT || driver::is_before_us(caller);
    // Not in the table; but where a hooked family has grown a function since, the trace must say so.
    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT && driver::in_families(name) && driver::find_loaded() &&
        next_dlsym(handle, name) != nullptr)
        driver::note_obtained(name);
    return false;
}

void* lastref_dlsym_of_driver(void* handle, char const* name, void* caller) {
    if (name[0] == 'I') return lastref::nvtx::chained(next_dlsym(handle, name));
    if (name[0] == 'P') return cpython::handed_out(next_dlsym(handle, name));
    void* const real = driver::without_us(handle, name, caller);
    if (real == nullptr) return nullptr;  // the lookup that failed last has left the right dlerror
    driver::learn_from(real);
    void* const result = driver::wrapper_of(real);
    // Learning looks names up that this driver may lack; the program asked for one that is there.
    dlerror();
    return result;
}

namespace {

using get_v1 = CUresult (*)(char const*, void**, int, cuuint64_t);
using get_v2 = CUresult (*)(char const*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

CUresult hand_out(CUresult result, char const* symbol, void** address) {
    if (result != CUDA_SUCCESS || address == nullptr || *address == nullptr) return result;
    void* const wrapper = driver::wrapper_of(*address);
    if (wrapper == *address && symbol != nullptr) driver::note_obtained(symbol);
    *address = wrapper;
    return result;
}

}  // namespace

extern "C" {

LASTREF_EXPORT CUresult cuGetProcAddress(char const* symbol, void** address, int version, cuuint64_t flags) {
    auto const real = reinterpret_cast<get_v1>(driver::get_proc_address(1));
    if (real == nullptr) return driver::missing();
    return hand_out(real(symbol, address, version, flags), symbol, address);
}

// `status` may be null, and is the driver's to fill.
LASTREF_EXPORT CUresult cuGetProcAddress_v2(char const* symbol, void** address, int version, cuuint64_t flags,
                                            CUdriverProcAddressQueryResult* status) {
    auto const real = reinterpret_cast<get_v2>(driver::get_proc_address(2));
    if (real == nullptr) return driver::missing();
    return hand_out(real(symbol, address, version, flags, status), symbol, address);
}
}
