#include "analyzer/cli/doctor/probe.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <climits>
#include <cstdint>
#include <cstdio>

#include "collector/cupti/places.h"

#ifndef LASTREF_CUPTI_MAJOR
#define LASTREF_CUPTI_MAJOR 13
#endif
#define LASTREF_TEXT(x) #x
#define LASTREF_QUOTED(x) LASTREF_TEXT(x)

namespace lastref::cli::doctor {
namespace {

// Flushed at once: what comes next may be a crash.
void print(char const* name, char const* value) {
    std::printf("%s=%s\n", name, value);
    std::fflush(stdout);
}

void print(char const* name, std::int64_t value) {
    print(name, std::to_string(value).c_str());
}

void print_path(void* library) {
    link_map* map = nullptr;
    char real[PATH_MAX];
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || map->l_name == nullptr) return;
    print("path", map->l_name);
    if (realpath(map->l_name, real) != nullptr) print("file", real);
}

template <class Function>
Function* find(void* library, char const* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// The driver's functions are declared here, since the analyzer is built without CUDA's headers: results are enums of
// int, devices are int.
void ask_devices(void* driver) {
    auto* const init = find<int(unsigned)>(driver, "cuInit");
    auto* const count = find<int(int*)>(driver, "cuDeviceGetCount");
    if (init == nullptr || count == nullptr) return;
    int const result = init(0);
    print("init", result);
    int devices = 0;
    if (result == 0 && count(&devices) == 0) print("devices", devices);
}

int probe_driver() {
    // Another tool, and lastref itself, have no business here.
    unsetenv("CUDA_INJECTION64_PATH");
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) {
        print("error", dlerror());
        return 0;
    }
    print_path(driver);
    print("simulated", dlsym(driver, "lastref_simdriver_set") != nullptr);
    int version = 0;
    if (auto* const get = find<int(int*)>(driver, "cuDriverGetVersion"); get != nullptr && get(&version) == 0)
        print("version", version);
    ask_devices(driver);
    return 0;
}

int probe_cupti() {
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): a name and its number are one place
    char const* const places[] = {getenv(LASTREF_CUPTI_VARIABLE),
                                  LASTREF_CUPTI_PLACES(LASTREF_QUOTED(LASTREF_CUPTI_MAJOR))};
    for (char const* place : places) {
        if (place == nullptr || *place == 0) continue;
        void* const library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            if (place == places[0]) print("named_error", dlerror());
            continue;
        }
        print_path(library);
        std::uint32_t version = 0;
        if (auto* const get = find<int(std::uint32_t*)>(library, "cuptiGetVersion");
            get != nullptr && get(&version) == 0)
            print("version", version);
        return 0;
    }
    return 0;
}

// Was liblastref.so preloaded into this process?
int probe_collector() {
    void* const ours = dlsym(RTLD_DEFAULT, "lastref_range_begin");
    print("preloaded", ours != nullptr);
    Dl_info info;
    if (ours != nullptr && dladdr(ours, &info) != 0 && info.dli_fname != nullptr) print("path", info.dli_fname);
    return 0;
}

}  // namespace

int probe(std::string const& subject) {
    if (subject == "driver") return probe_driver();
    if (subject == "cupti") return probe_cupti();
    if (subject == "collector") return probe_collector();
    return 2;
}

}  // namespace lastref::cli::doctor
