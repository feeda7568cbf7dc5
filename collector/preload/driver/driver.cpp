#include "collector/preload/driver/driver.h"

#include <link.h>

#include <atomic>
#include <cstring>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/hooks/wrappers.h"
#include "collector/preload/record/settings.h"

namespace lastref::preload::driver {
namespace {

constexpr std::size_t abi_count = static_cast<std::size_t>(hooks::abi::count);
// The callbacks and derived records behind the last symbol have no entry point.
constexpr std::size_t symbol_count = static_cast<std::size_t>(hooks::abi::callback_user_object);

// Address in the driver → ABI number, by open addressing. Filled once, before `learned` is set.
constexpr std::uint32_t map_size = 2048;
static_assert(map_size > 2 * symbol_count);
struct address_entry {
    void* address;
    std::uint16_t id;
};
address_entry by_address[map_size];

enum class progress : int { unknown, learning, learned };
std::atomic<progress> learning{progress::unknown};
char driver_path[4096];

get_context_function get_context = nullptr;
get_device_function get_device = nullptr;
CUresult (*get_version)(int*) = nullptr;
void* get_proc_addresses[2];  // cuGetProcAddress, cuGetProcAddress_v2

std::uint32_t bucket(void const* address) {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u) >> 40) %
           map_size;
}

void add(void* address, std::uint16_t id) {
    for (std::uint32_t i = bucket(address);; i = (i + 1) % map_size) {
        if (by_address[i].address == address) return;  // an alias: the same function under two names
        if (by_address[i].address != nullptr) continue;
        by_address[i] = {address, id};
        return;
    }
}

char const* base_name(char const* path) {
    char const* const slash = strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

bool is_driver(char const* path) {
    return path != nullptr && strncmp(base_name(path), "libcuda.so", 10) == 0;
}

// A name that the driver module itself defines: an address that a lookup found elsewhere (ours, another interposer's)
// is not the driver's.
void* own_symbol(void* handle, char const* name, link_map const* driver) {
    void* const address = next_dlsym(handle, name);
    Dl_info info;
    link_map* map = nullptr;
    if (address == nullptr || dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
        return nullptr;
    return map == driver ? address : nullptr;
}

void learn(void* handle, link_map const* driver) {
    copy_text(driver_path, driver->l_name);
    get_context = reinterpret_cast<get_context_function>(own_symbol(handle, "cuCtxGetCurrent", driver));
    get_device = reinterpret_cast<get_device_function>(own_symbol(handle, "cuCtxGetDevice", driver));
    get_version = reinterpret_cast<CUresult (*)(int*)>(own_symbol(handle, "cuDriverGetVersion", driver));
    get_proc_addresses[0] = own_symbol(handle, "cuGetProcAddress", driver);
    get_proc_addresses[1] = own_symbol(handle, "cuGetProcAddress_v2", driver);
    for (std::size_t i = 0; i < symbol_count; ++i) {
        void* const address = own_symbol(handle, hooks::abi_table[i].symbol.data(), driver);
        if (address == nullptr) continue;
        add(address, static_cast<std::uint16_t>(i));
        __atomic_store_n(&entry_points[i], address, __ATOMIC_RELEASE);
    }
}

// dlopen of a library that is loaded gives a handle on it and loads nothing.
bool learn_module(link_map const* driver) {
    progress expected = progress::unknown;
    if (!learning.compare_exchange_strong(expected, progress::learning, std::memory_order_acq_rel)) {
        // Another thread is learning (rare, and short): its result is needed before any wrapper can be handed out.
        while (learning.load(std::memory_order_acquire) == progress::learning) __builtin_ia32_pause();
        return learning.load(std::memory_order_acquire) == progress::learned;
    }
    void* const handle = dlopen(driver->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) learn(handle, driver);
    learning.store(handle != nullptr ? progress::learned : progress::unknown, std::memory_order_release);
    return handle != nullptr;
}

// Second copies that were seen before there was a trace to count them in.
std::atomic<std::uint32_t> copies_before_recording{0};

void count_copy() {
    if (process::the.header != nullptr)
        process::count(spool::loss::second_driver);
    else
        copies_before_recording.fetch_add(1, std::memory_order_relaxed);
}

// Is this a second copy of the driver? Calls into it cannot be told from the first one's, so they are passed by.
void check_copy(link_map const* module) {
    if (strcmp(module->l_name, driver_path) != 0) count_copy();
}

// Loaded by dlmopen, it is a copy beside the one that our wrappers call, whether that is loaded yet or not.
bool is_in_another_namespace(link_map* module) {
    Lmid_t space = LM_ID_BASE;
    return dlinfo(module, RTLD_DI_LMID, &space) == 0 && space != LM_ID_BASE;
}

}  // namespace

void* entry_points[abi_count];

void* wrapper_of(void* address) {
    if (learning.load(std::memory_order_acquire) != progress::learned) return address;
    if (address == get_proc_addresses[0]) return reinterpret_cast<void*>(&cuGetProcAddress);
    if (address == get_proc_addresses[1]) return reinterpret_cast<void*>(&cuGetProcAddress_v2);
    for (std::uint32_t i = bucket(address); by_address[i].address != nullptr; i = (i + 1) % map_size) {
        if (by_address[i].address == address) return hooks::wrapper(static_cast<hooks::abi>(by_address[i].id));
    }
    return address;
}

void learn_from(void* address) {
    Dl_info info;
    link_map* map = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return;
    if (!is_driver(map->l_name)) return;
    if (is_in_another_namespace(map))
        count_copy();
    else if (learning.load(std::memory_order_acquire) == progress::learned)
        check_copy(map);
    else
        learn_module(map);
}

bool find_loaded() {
    if (learning.load(std::memory_order_acquire) == progress::learned) return true;
    if (dlopen == nullptr) return false;
    // A program linked with -lcuda has it in the global scope; one that got it as a dependency of a plugin does not.
    if (void* const address = next_dlsym(RTLD_NEXT, "cuInit"); address != nullptr) learn_from(address);
    if (learning.load(std::memory_order_acquire) == progress::learned) return true;
    if (void* const handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD); handle != nullptr) {
        if (void* const address = next_dlsym(handle, "cuInit"); address != nullptr) learn_from(address);
        dlclose(handle);
    }
    return learning.load(std::memory_order_acquire) == progress::learned;
}

void count_earlier_copies() {
    if (std::uint32_t const copies = copies_before_recording.exchange(0, std::memory_order_relaxed); copies != 0)
        process::count(spool::loss::second_driver, copies);
}

char const* path() {
    return driver_path;
}

void* find_slowly(hooks::abi id) {
    find_loaded();
    return __atomic_load_n(&entry_points[static_cast<std::size_t>(id)], __ATOMIC_ACQUIRE);
}

void* get_proc_address(int version) {
    find_loaded();
    return get_proc_addresses[version - 1];
}

CUresult missing() {
    process::count(spool::loss::missing_entry_points);
    return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
}

get_context_function current_context_function() {
    return get_context;
}
get_device_function device_function() {
    return get_device;
}
int version() {
    int value = 0;
    return get_version != nullptr && get_version(&value) == CUDA_SUCCESS ? value : 0;
}

}  // namespace lastref::preload::driver
