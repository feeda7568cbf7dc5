#include "collector/nvtx/injection.h"

#include <stdlib.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstring>

#include "collector/nvtx/handlers.h"
#include "collector/preload/driver/dlsym.h"
#include "collector/preload/record/process.h"

#define LASTREF_EXPORT __attribute__((visibility("default")))

namespace lastref::nvtx {
namespace {

constexpr char variable[] = "NVTX_INJECTION64_PATH";
constexpr char function_name[] = "InitializeInjectionNvtx2";

std::atomic<bool> prepared{false};
std::atomic<abi::initialize> other_tool{nullptr};

// Named in a child that lost LD_PRELOAD on the way, the library would see no driver call, only marks.
bool is_preloaded() {
    if (dlopen == nullptr) return false;
    void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    if (program == nullptr) return false;
    void* const found = preload::next_dlsym(program, function_name);
    dlclose(program);
    dlerror();
    return found == reinterpret_cast<void*>(&InitializeInjectionNvtx2);
}

bool tables_of(abi::get_export_table get_table, abi::callbacks_table const*& callbacks) {
    if (get_table == nullptr) return false;
    callbacks = static_cast<abi::callbacks_table const*>(get_table(abi::callbacks_table_id));
    return callbacks != nullptr && callbacks->size >= sizeof(abi::callbacks_table) &&
           callbacks->module_table != nullptr;
}

}  // namespace

void prepare() {
    prepared.store(true, std::memory_order_release);
    if (getenv(variable) != nullptr) return;
    Dl_info own;
    char path[4096];
    if (dladdr == nullptr || dladdr(reinterpret_cast<void const*>(&prepare), &own) == 0 || own.dli_fname == nullptr)
        return;
    if (realpath(own.dli_fname, path) != nullptr) setenv(variable, path, 0);
}

bool is_initialization(char const* name) {
    return strcmp(name, function_name) == 0;
}

void* chained(void* real) {
    auto* const ours = reinterpret_cast<void*>(&InitializeInjectionNvtx2);
    if (real == nullptr || real == ours || !prepared.load(std::memory_order_acquire)) return real;
    abi::initialize expected = nullptr;
    auto const its = reinterpret_cast<abi::initialize>(real);
    if (other_tool.compare_exchange_strong(expected, its, std::memory_order_acq_rel) || expected == its) return ours;
    preload::process::count(spool::loss::nvtx_unrecorded);
    return real;
}

}  // namespace lastref::nvtx

// The other tool goes first: what it put into the places is what ours hand on to.
extern "C" LASTREF_EXPORT int InitializeInjectionNvtx2(lastref::nvtx::abi::get_export_table get_table) {
    using namespace lastref::nvtx;
    abi::initialize const other = other_tool.load(std::memory_order_acquire);
    abi::callbacks_table const* callbacks = nullptr;
    if (!prepared.load(std::memory_order_acquire) || !is_preloaded() || !tables_of(get_table, callbacks))
        return other != nullptr ? other(get_table) : 0;
    handlers::places places(*callbacks);
    if (other != nullptr) other(get_table);
    places.take();
    return 1;
}

LASTREF_EXPORT lastref::nvtx::abi::initialize InitializeInjectionNvtx2_fnptr = &InitializeInjectionNvtx2;
