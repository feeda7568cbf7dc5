// The functions of CUPTI by which calls are counted, told by the simulated driver. There are no activities. A call's
// number is the entry point's place in the simulated driver's table. LASTREF_SIM_CUPTI=taken: another tool has
// subscribed already.
#include <cupti.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "tests/simdriver/control.h"

namespace {

struct subscription {
    CUpti_CallbackFunc call = nullptr;
    void* own = nullptr;
    std::atomic<bool> enabled{false};
};
subscription one;

template <class Function>
Function of_driver(char const* name) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

void on_call(unsigned index, int entering, int result) {
    if (!one.enabled.load(std::memory_order_acquire)) return;
    CUpti_CallbackData data{};
    data.callbackSite = entering ? CUPTI_API_ENTER : CUPTI_API_EXIT;
    data.functionReturnValue = &result;
    one.call(one.own, CUPTI_CB_DOMAIN_DRIVER_API, index, &data);
}

bool is_taken() {
    char const* const set = std::getenv("LASTREF_SIM_CUPTI");
    return set && std::string_view(set) == "taken";
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userdata) {
    if (is_taken() || one.call) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    auto const watch = of_driver<decltype(&lastref_simdriver_watch)>("lastref_simdriver_watch");
    if (!watch) return CUPTI_ERROR_NOT_INITIALIZED;
    one.call = callback;
    one.own = userdata;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&one);
    watch(on_call);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) one.enabled.store(enable != 0, std::memory_order_release);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, char const** name) {
    auto const symbol = of_driver<decltype(&lastref_simdriver_symbol)>("lastref_simdriver_symbol");
    int behaves = 0;
    *name = symbol && domain == CUPTI_CB_DOMAIN_DRIVER_API ? symbol(id, &behaves) : nullptr;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

}  // extern "C"
