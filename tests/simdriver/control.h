// The control interface of the simulated driver, for tests that force delays and failures while they run. Found by
// dlsym, or by linking with the simulated libcuda.so; a real driver has none of it.
#pragma once

extern "C" {

// Sets what the environment variable of that name sets (core/settings.h): LASTREF_SIM_KERNEL_US,
// LASTREF_SIM_CALLBACK_US, LASTREF_SIM_SEED or LASTREF_SIM_FAIL; a null value sets the default. Setting failures starts
// the counting of calls again. Returns 0, or 1 for a name or value that it does not take. Safe on any thread.
__attribute__((visibility("default"))) int lastref_simdriver_set(char const* name, char const* value);

// The entry point with this number, counted from 0, and whether it has behaviour; null past the last one.
__attribute__((visibility("default"))) char const* lastref_simdriver_symbol(unsigned index, int* has_behaviour);

// Told of every call on the calling thread: the entry point's number, 1 at its begin and 0 at its end, and then its
// result. One at a time; null for none. Calls under way may still be told.
typedef void (*lastref_simdriver_watcher)(unsigned index, int entering, int result);
__attribute__((visibility("default"))) void lastref_simdriver_watch(lastref_simdriver_watcher told);
}
