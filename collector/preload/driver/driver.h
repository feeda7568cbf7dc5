// The real driver behind the hooks: where each entry point is, and which entry point an address is.
//
// The ABI variant is recognised by address, since all pointers that cuGetProcAddress returns equal one that dlsym
// returns for the name with some suffix, while name and version alone mislead (docs/architecture.md).
#pragma once

#include "collector/preload/driver/cuda_abi.h"
#include "collector/preload/hooks/api_table.h"

namespace lastref::preload::driver {

// Addresses in the real driver, by ABI symbol; null: this driver has none, or it is not found yet.
extern void* entry_points[static_cast<std::size_t>(hooks::abi::count)];

// Finds the driver if that has not been done, and gives the entry point's address; null: there is none.
void* find_slowly(hooks::abi id);

template <class Function>
[[gnu::always_inline]] inline Function entry_point(hooks::abi id) {
    void* const known = entry_points[static_cast<std::size_t>(id)];
    if (known != nullptr) [[likely]]
        return reinterpret_cast<Function>(known);
    return reinterpret_cast<Function>(find_slowly(id));
}

// What the program gets instead of an address in the driver: our wrapper if the address is a hooked entry point, else
// the address itself.
void* wrapper_of(void* address);

// Is `name` a symbol of the table, or one of the functions through which programs ask for them?
bool hooked_name(char const* name);

// Does the name belong to a family that lastref follows?
bool in_families(char const* name);

// Counts a name of the hooked families that the table lacks and that was not left out on purpose.
void note_obtained(char const* name);

// The driver's cuGetProcAddress (1) or cuGetProcAddress_v2 (2).
void* get_proc_address(int version);

// Learns the driver from any address inside it.
void learn_from(void* address_in_driver);
// Learns it if it is loaded, without loading it.
bool find_loaded();
// Counts what was seen of second copies before there was a trace to count it in.
void count_earlier_copies();
char const* path();

// What a wrapper returns when the program calls an entry point that this driver lacks (it cannot have got it from us,
// only through a reference that would not have been resolved without us).
CUresult missing();

// Entry points for our own use, straight from the driver; null where it lacks them.
using get_context_function = CUresult (*)(CUcontext*);
using get_device_function = CUresult (*)(CUdevice*);
get_context_function current_context_function();
get_device_function device_function();
int version();

}  // namespace lastref::preload::driver
