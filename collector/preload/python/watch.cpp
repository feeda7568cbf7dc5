#include "collector/preload/python/watch.h"

#include <link.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/python/import_table.h"
#include "collector/preload/python/interpreter_phases.h"
#include "collector/preload/python/pending_calls.h"
#include "collector/preload/record/ring.h"
#include "collector/preload/record/settings.h"

namespace lastref::preload::cpython {

void const* known_destructors[most_destructors];

namespace {

std::atomic<bool> prepared{false};
std::atomic<bool> busy{false};  // a thread looks; others go on without

constexpr std::uint64_t pause = std::uint64_t{1} << 22;  // clock ticks: one to four milliseconds

// --- what is taken over
// -------------------------------------------------------------------------------------------------

// An interpreter ends in one of these: what it says of itself right behind them is true to the instant.
int finalize_ex() {
    int const result = the_interpreter.finalize_ex();
    note_phase();
    return result;
}
void finalize() {
    the_interpreter.finalize();
    note_phase();
}
int run_main() {
    int const result = the_interpreter.run_main();
    note_phase();
    return result;
}

struct imported {
    char const* name;
    std::uintptr_t ours;
    std::uintptr_t real;  // 0: the interpreter is not known, or lacks it
};
imported imports[] = {
    {"Py_AddPendingCall", 0, 0},
    {"Py_FinalizeEx", 0, 0},
    {"Py_Finalize", 0, 0},
    {"Py_RunMain", 0, 0},
};

imported* import_named(char const* name) {
    for (imported& one : imports)
        if (strcmp(one.name, name) == 0) return &one;
    return nullptr;
}

// --- what is known of modules; all of it belongs to the thread that is `busy`
// -----------------------------------------------------------------------------

// Numbers, by open addressing, insert only: modules that import nothing of an interpreter, and places that were given
// up.
struct number_set {
    static constexpr std::uint32_t size = 8192;
    std::uint64_t numbers[size] = {};

    bool contains(std::uint64_t number) const {
        for (std::uint32_t probe = 0; probe < 64; ++probe) {
            std::uint64_t const found = numbers[(number + probe) % size];
            if (found == number || found == 0) return found == number;
        }
        return false;
    }
    void insert(std::uint64_t number) {
        for (std::uint32_t probe = 0; probe < 64; ++probe) {
            std::uint64_t& place = numbers[(number + probe) % size];
            if (place == 0) place = number;
            if (place == number) return;
        }
    }
};
number_set plain;
number_set given_up;

constexpr std::uint32_t most_importers = 256;  // more are looked at in vain, at every change anew

struct changes {
    unsigned long long loaded = 0, unloaded = 0;
    bool operator==(changes const&) const = default;
};
changes known_changes;

struct survey {
    changes now;
    std::uint64_t importers[most_importers];
    std::uint32_t importer_count = 0;
    bool found_interpreter = false;
    interpreter found;
    std::uintptr_t real[std::size(imports)];
    char path[4096];
};
survey latest;

// --- looking
// ------------------------------------------------------------------------------------------------------------

int read_changes(dl_phdr_info* info, std::size_t size, void* to) {
    if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *static_cast<changes*>(to) = {info->dlpi_adds, info->dlpi_subs};
    return 1;
}

template <class Function>
void find(loaded_module const& in, char const* name, Function& to) {
    to = reinterpret_cast<Function>(in.defined(name));
}

void look_for_interpreter(loaded_module const& module, char const* path, survey& to) {
    if (to.found_interpreter || process::the.has_interpreter.load(std::memory_order_relaxed)) return;
    if (module.defined(imports[0].name) == 0) return;
    interpreter& it = to.found;
    find(module, "Py_IsInitialized", it.is_initialized);
    find(module, "Py_IsFinalizing", it.is_finalizing);                                    // 3.13 and newer
    if (it.is_finalizing == nullptr) find(module, "_Py_IsFinalizing", it.is_finalizing);  // 3.7 to 3.12
    find(module, "PyInterpreterState_Main", it.main_state);
    find(module, "Py_FinalizeEx", it.finalize_ex);
    find(module, "Py_Finalize", it.finalize);
    find(module, "Py_RunMain", it.run_main);
    if (it.is_initialized == nullptr) return;
    for (std::size_t i = 0; i < std::size(imports); ++i) to.real[i] = module.defined(imports[i].name);
    copy_text(to.path, path != nullptr ? path : "");
    to.found_interpreter = true;
}

bool imports_anything(loaded_module const& module) {
    bool found = false;
    module.for_imports([&found](char const* name, std::uintptr_t*) { found |= import_named(name) != nullptr; });
    return found;
}

int look_at(dl_phdr_info* info, std::size_t size, void* argument) {
    auto& to = *static_cast<survey*>(argument);
    read_changes(info, size, &to.now);
    loaded_module const module(*info);
    if (!module.readable() || module.contains(reinterpret_cast<std::uintptr_t>(&look_at))) return 0;
    std::uint64_t const identity = module.identity();
    if (plain.contains(identity)) return 0;
    look_for_interpreter(module, info->dlpi_name, to);
    if (!imports_anything(module))
        plain.insert(identity);
    else if (to.importer_count < most_importers)
        to.importers[to.importer_count++] = identity;
    return 0;
}

// --- taking over
// -----------------------------------------------------------------------------------------------------------

// Whatever was being loaded when the survey was made is loaded now, and its memory as it stays: dlopen lets one thread
// in at a time.
void wait_for_loading() {
    if (void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD); program != nullptr) dlclose(program);
}

// From now on its functions are called, so it must stay where it is; what the program was started with does.
void adopt(survey const& from, bool starting) {
    if (!starting && from.path[0] != 0) {
        void* const handle = dlopen(from.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (handle == nullptr) {
            dlerror();
            return;
        }
        dlclose(handle);
    }
    auto const function = reinterpret_cast<add_pending_call_function>(from.real[0]);
    add_pending_call_function handed_out_before = nullptr;
    if (!real_add_pending_call.compare_exchange_strong(handed_out_before, function, std::memory_order_acq_rel) &&
        handed_out_before != function)
        return;  // of another copy
    the_interpreter = from.found;
    for (std::size_t i = 0; i < std::size(imports); ++i) imports[i].real = from.real[i];
    process::the.has_interpreter.store(true, std::memory_order_release);
}

void give_up(std::uintptr_t const* place) {
    std::uint64_t const number = reinterpret_cast<std::uintptr_t>(place) | 1;
    if (given_up.contains(number)) return;
    given_up.insert(number);
    process::count(spool::loss::pending_imports_unseen);
}

// The place has the function's address, or, before the first call, one of the module's own that looks it up. What else
// stands there was put there by another tool, or belongs to another interpreter.
void take_over(loaded_module const& module, std::uintptr_t* place, imported const& what) {
    std::uintptr_t const found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (found == what.ours) return;
    bool const is_its = found == what.real || module.contains(found);
    if (!is_its || !module.exchange(place, found, what.ours)) give_up(place);
}

int take_over_imports(dl_phdr_info* info, std::size_t, void* argument) {
    auto const& from = *static_cast<survey const*>(argument);
    loaded_module const module(*info);
    if (!module.readable()) return 0;
    std::uint64_t const identity = module.identity();
    for (std::uint32_t i = 0; i < from.importer_count; ++i) {
        if (from.importers[i] != identity) continue;
        module.for_imports([&module](char const* name, std::uintptr_t* place) {
            imported const* const what = import_named(name);
            if (what != nullptr && what->real != 0) take_over(module, place, *what);
        });
        break;
    }
    return 0;
}

void look(bool starting) {
    changes now;
    dl_iterate_phdr(read_changes, &now);
    if (now == known_changes) return;
    latest.importer_count = 0;
    latest.found_interpreter = false;
    dl_iterate_phdr(look_at, &latest);
    known_changes = latest.now;
    bool const known = process::the.has_interpreter.load(std::memory_order_relaxed) || latest.found_interpreter;
    if (!known || (latest.importer_count == 0 && !latest.found_interpreter)) return;
    if (!starting) wait_for_loading();
    if (latest.found_interpreter) adopt(latest, starting);
    if (process::the.has_interpreter.load(std::memory_order_relaxed)) dl_iterate_phdr(take_over_imports, &latest);
}

// In a callback, or inside a call of the driver's, somebody may be waiting for this thread.
bool may_look() {
    return prepared.load(std::memory_order_relaxed) && ring.callbacks == 0 && ring.writing == 0;
}

void look_alone() {
    if (busy.exchange(true, std::memory_order_acquire)) return;
    int const saved = errno;
    look(false);
    errno = saved;
    busy.store(false, std::memory_order_release);
}

int look_for_interpreter_alone(dl_phdr_info* info, std::size_t, void* found) {
    loaded_module const module(*info);
    *static_cast<bool*>(found) = module.readable() && module.defined(imports[0].name) != 0;
    return *static_cast<bool*>(found);
}

}  // namespace

// A program that has its interpreter from the start may keep addresses of its functions from then on. There is one
// thread, and constructors of other libraries have still to run: nothing may be opened here, and need not be.
void prepare() {
    imports[0].ours = reinterpret_cast<std::uintptr_t>(&add_pending_call);
    imports[1].ours = reinterpret_cast<std::uintptr_t>(&finalize_ex);
    imports[2].ours = reinterpret_cast<std::uintptr_t>(&finalize);
    imports[3].ours = reinterpret_cast<std::uintptr_t>(&run_main);
    prepared.store(true, std::memory_order_release);
    bool found = false;
    dl_iterate_phdr(look_for_interpreter_alone, &found);
    if (found) look(true);
}

void watch(std::uint64_t now) {
    if (!may_look() || ring.depth != 0) return;
    std::uint64_t due = process::the.next_watch.load(std::memory_order_relaxed);
    if (due > now || !process::the.next_watch.compare_exchange_strong(due, now + pause, std::memory_order_relaxed))
        return;
    look_alone();
    if (process::the.has_interpreter.load(std::memory_order_relaxed)) note_phase();
}

void watch_destructor_slowly(void const* destructor) {
    if (!may_look()) return;
    auto const place = reinterpret_cast<std::uintptr_t>(destructor) >> 4;
    __atomic_store_n(&known_destructors[place % most_destructors], destructor, __ATOMIC_RELAXED);
    look_alone();
}

// RTLD_NEXT means what comes behind the caller, and RTLD_DEFAULT, where the program itself has no such function,
// perhaps one that only the caller can see.
bool is_add_pending_call(void* handle, char const* name) {
    if (!prepared.load(std::memory_order_acquire) || strcmp(name, imports[0].name) != 0 || handle == RTLD_NEXT)
        return false;
    if (handle != RTLD_DEFAULT) return true;
    bool const found = next_dlsym(RTLD_DEFAULT, name) != nullptr;
    if (!found) dlerror();
    return found;
}

void* handed_out(void* found) {
    if (found == nullptr) return nullptr;
    auto const function = reinterpret_cast<add_pending_call_function>(found);
    add_pending_call_function known = nullptr;
    bool const is_its =
        real_add_pending_call.compare_exchange_strong(known, function, std::memory_order_acq_rel) || known == function;
    return is_its ? reinterpret_cast<void*>(&add_pending_call) : found;
}

void forget_parent() {
    busy.store(false, std::memory_order_relaxed);
    process::the.next_watch.store(0, std::memory_order_relaxed);
    forget_phase();
}

}  // namespace lastref::preload::cpython
