#include "tests/simdriver/core/tools.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "tests/simdriver/control.h"

namespace lastref::simdriver::tools {
namespace {

std::atomic<lastref_simdriver_watcher> watcher{nullptr};

void tell(symbol_id id, int entering, CUresult result) {
    if (auto const told = watcher.load(std::memory_order_acquire))
        told(static_cast<unsigned>(id), entering, static_cast<int>(result));
}

}  // namespace

void load_injected() {
    static std::atomic<bool> done{false};
    if (done.exchange(true)) return;
    char const* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return;
    if (auto const begin = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) begin();
}

watched_call::watched_call(symbol_id id) : id_(id) {
    tell(id_, 1, CUDA_SUCCESS);
}

CUresult watched_call::returned(CUresult result) const {
    tell(id_, 0, result);
    return result;
}

}  // namespace lastref::simdriver::tools

void lastref_simdriver_watch(lastref_simdriver_watcher told) {
    lastref::simdriver::tools::watcher.store(told, std::memory_order_release);
}
