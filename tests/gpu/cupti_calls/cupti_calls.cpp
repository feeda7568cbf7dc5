// Counts the driver calls that CUPTI sees, as a second opinion on what lastref records.
//
// The driver loads the library inside the first cuInit: CUDA_INJECTION64_PATH=…/libcupti_calls.so. What it writes to
// the file named by CUPTI_CALLS_OUT ("%p" is the process's number):
//
//     {"pid": 1, "state": "exit", "calls": {"cuMemAlloc_v2": 3, …}, "failed": {"cuMemFreeAsync": 1, …}}
//
// `calls` counts entries, `failed` returns other than CUDA_SUCCESS and CUDA_ERROR_NOT_READY; both by the symbol that
// CUPTI names, with its ABI suffixes. The file is written several times, each time whole: after subscribing
// ("subscribed"), when a context goes ("context", since a program may end by _exit after its cleanup), at exit
// ("exit"), and when the library is unloaded ("unload").
//
// CUPTI is loaded with dlopen: a framework that brings its own copy has it loaded already, and that one is taken.
#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// More than CUPTI of CUDA 13.0 knows: a newer one may report numbers beyond this header's.
constexpr std::size_t max_calls = 2048;

struct cupti_functions {
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiEnableDomain) enable_domain = nullptr;
    decltype(&cuptiGetCallbackName) callback_name = nullptr;
    bool complete() const { return subscribe && enable_domain && callback_name; }
};

// Never destroyed: the driver may still call back while the process's static objects go.
struct state {
    cupti_functions cupti;
    CUpti_SubscriberHandle subscriber = nullptr;
    std::array<std::atomic<unsigned long long>, max_calls> calls{};
    std::array<std::atomic<unsigned long long>, max_calls> failed{};
    std::array<std::string, max_calls> names{};
    std::string path;
    pid_t process = getpid();
};

state& shared() {
    static auto& only = *new state;
    return only;
}

void complain(char const* what) {
    std::fprintf(stderr, "cupti_calls: %s\n", what);
}

void* open_cupti() {
    if (void* const loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD)) return loaded;
    char const* const chosen = std::getenv("CUPTI_CALLS_LIBRARY");
    for (char const* const path : {chosen, "libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                                   "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "libcupti.so"}) {
        if (!path || !*path) continue;
        if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    }
    return nullptr;
}

template <typename Function>
void find(void* library, char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
}

cupti_functions load_cupti() {
    cupti_functions found;
    void* const library = open_cupti();
    if (!library) return found;
    find(library, "cuptiSubscribe", found.subscribe);
    find(library, "cuptiEnableDomain", found.enable_domain);
    find(library, "cuptiGetCallbackName", found.callback_name);
    return found;
}

std::string chosen_path() {
    char const* const given = std::getenv("CUPTI_CALLS_OUT");
    std::string path = given ? given : "cupti_calls.%p.json";
    if (auto const at = path.find("%p"); at != std::string::npos) path.replace(at, 2, std::to_string(getpid()));
    return path;
}

// Names are asked for before the first callback, so that writing the file needs CUPTI no more.
void learn_names(state& now) {
    for (std::uint32_t id = 0; id < max_calls; ++id) {
        char const* name = nullptr;
        if (now.cupti.callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name)
            now.names[id] = name;
    }
}

void write_counts(std::FILE* file, state const& now,
                  std::array<std::atomic<unsigned long long>, max_calls> const& counts) {
    char const* separator = "";
    for (std::size_t id = 0; id < max_calls; ++id) {
        auto const count = counts[id].load(std::memory_order_relaxed);
        if (count == 0) continue;
        auto const name = now.names[id].empty() ? "cbid_" + std::to_string(id) : now.names[id];
        std::fprintf(file, "%s\"%s\": %llu", separator, name.c_str(), count);
        separator = ", ";
    }
}

// Whole or not at all: a reader never sees half a file, and of two threads that write at once the last one wins.
void write_file(char const* when) {
    static std::atomic<int> serial{0};
    auto& now = shared();
    if (getpid() != now.process) return;  // a forked child would overwrite its parent's counts
    auto const part = now.path + "." + std::to_string(++serial) + ".part";
    std::FILE* const file = std::fopen(part.c_str(), "w");
    if (!file) return complain("the file of CUPTI_CALLS_OUT cannot be written");
    std::fprintf(file, "{\"pid\": %d, \"state\": \"%s\", \"calls\": {", static_cast<int>(getpid()), when);
    write_counts(file, now, now.calls);
    std::fputs("}, \"failed\": {", file);
    write_counts(file, now, now.failed);
    std::fputs("}}\n", file);
    std::fclose(file);
    std::rename(part.c_str(), now.path.c_str());
}

bool ends_context(CUpti_CallbackId id) {
    return id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy || id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2 ||
           id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease ||
           id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2 ||
           id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset ||
           id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2;
}

void count_return(CUpti_CallbackId id, CUpti_CallbackData const& data) {
    auto const* const result = static_cast<CUresult const*>(data.functionReturnValue);
    if (result && *result != CUDA_SUCCESS && *result != CUDA_ERROR_NOT_READY)
        shared().failed[id].fetch_add(1, std::memory_order_relaxed);
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= max_calls) return;
    auto const& call = *static_cast<CUpti_CallbackData const*>(data);
    if (call.callbackSite == CUPTI_API_EXIT) return count_return(id, call);
    shared().calls[id].fetch_add(1, std::memory_order_relaxed);
    if (ends_context(id)) write_file("context");
}

}  // namespace

// Called by the driver; 1 says that it worked. The program must run on either way.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    auto& now = shared();
    now.path = chosen_path();
    now.cupti = load_cupti();
    if (!now.cupti.complete()) return complain("libcupti.so.13 was not found"), 1;
    learn_names(now);
    if (now.cupti.subscribe(&now.subscriber, on_call, nullptr) != CUPTI_SUCCESS)
        return complain("cuptiSubscribe failed: is another tool attached?"), 1;
    if (now.cupti.enable_domain(1, now.subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS)
        return complain("cuptiEnableDomain failed"), 1;
    write_file("subscribed");
    std::atexit([] { write_file("exit"); });
    return 1;
}

__attribute__((destructor)) static void on_unload() {
    if (shared().subscriber) write_file("unload");
}
