// Devices, their attributes, the names of errors, and the limits of contexts.
#include <cstring>
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

void devices() {
    CUdevice device = 9;
    int count = 0, value = 0;
    char name[4] = "zzz";
    std::size_t bytes = 0;
    CUcontext context = nullptr;
    CUuuid uuid{};
    cuInit(0);
    ASK(cuDeviceGetCount(&count));
    ask("there are devices", count > 0);
    ASK(cuDeviceGetCount(nullptr));
    ASK(cuDeviceGet(&device, 0));
    ask_number("first device", device);
    ASK(cuDeviceGet(&device, -1));
    ASK(cuDeviceGet(&device, 64));
    ASK(cuDeviceGet(nullptr, 0));
    ASK(cuDeviceGetName(name, 4, 0));
    ask_number("length of a name that was cut", static_cast<long long>(strnlen(name, 4)));
    ASK(cuDeviceTotalMem(&bytes, 0));
    ask("has memory", bytes > 0);
    ASK(cuDeviceTotalMem(&bytes, 64));
    ASK(cuDeviceGetUuid(&uuid, 0));
    ASK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), 0));
    ASK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(250), 0));
    ASK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 64));
    ASK(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ASK(cuDevicePrimaryCtxRetain(&context, 64));
    ASK(cuDevicePrimaryCtxRetain(nullptr, 0));
    ASK(cuDevicePrimaryCtxRelease(64));
    ASK(cuCtxCreate(&context, nullptr, 0, 64));
    ASK(cuCtxCreate(nullptr, nullptr, 0, 0));
    ASK(cuCtxCreate(&context, nullptr, 0x1000, 0));
    ASK(cuDeviceCanAccessPeer(&value, 0, 0));
    ask_number("access to itself", value);
    ASK(cuDeviceCanAccessPeer(&value, 0, 64));
}

// Where a device sits, how fast it is clocked and how large it is belong to the machine.
bool of_the_machine(int attribute) {
    for (int const one :
         {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
          CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
          CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, CU_DEVICE_ATTRIBUTE_NUMA_ID, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
          CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID,
          CU_DEVICE_ATTRIBUTE_NUMA_CONFIG})
        if (attribute == one) return true;
    return false;
}

void device_attributes() {
    cuInit(0);
    for (int attribute = 1; attribute < 150; ++attribute) {
        if (of_the_machine(attribute)) continue;
        int value = 0;
        CUresult const result = cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
        std::string const question = "attribute " + std::to_string(attribute);
        ask_text(question.c_str(), result == CUDA_SUCCESS ? std::to_string(value) : "result " + std::to_string(result));
    }
}

void names_of_errors() {
    for (int code = 0; code < 1000; ++code) {
        char const *name = nullptr, *text = nullptr;
        CUresult const result = cuGetErrorName(static_cast<CUresult>(code), &name);
        if (result != CUDA_SUCCESS) continue;
        CUresult const second = cuGetErrorString(static_cast<CUresult>(code), &text);
        std::string const question = "error " + std::to_string(code);
        ask_text(question.c_str(), name);
        ask((question + ": text").c_str(), second == CUDA_SUCCESS && text && *text);
    }
    char const* name = "";
    ASK(cuGetErrorName(static_cast<CUresult>(998), &name));
    ask("no name", name == nullptr);
    ASK(cuGetErrorString(static_cast<CUresult>(998), &name));
}

void context_settings() {
    CUcontext const context = start();
    CUcontext made = nullptr;
    unsigned flags = 9, version = 0;
    std::size_t limit = 0;
    unsigned long long id = 0, other = 0;
    CUfunc_cache cache{};
    CUdevice device = 9;
    ASK(cuCtxGetFlags(&flags));
    ask_number("flags of the primary context", flags);
    ASK(cuCtxGetApiVersion(context, &version));
    ask_number("version of its interface", version);
    ASK(cuCtxGetDevice(&device));
    ask_number("device", device);
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    ask_number("stack size", static_cast<long long>(limit));
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_PRINTF_FIFO_SIZE));
    ask_number("printf buffer", static_cast<long long>(limit));
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
    ask_number("heap", static_cast<long long>(limit));
    ASK(cuCtxGetLimit(&limit, static_cast<CUlimit>(15)));
    ASK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    ask_number("stack size set", static_cast<long long>(limit));
    ASK(cuCtxGetCacheConfig(&cache));
    ask_number("cache preference", cache);
    ASK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    ASK(cuCtxGetId(context, &id));
    ASK(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0));
    ASK(cuCtxGetId(made, &other));
    ask("numbers differ", id != other);
    ASK(cuCtxGetFlags(&flags));
    ask_number("flags of the created context", flags);
    ASK(cuCtxGetApiVersion(made, &version));
    ask_number("version of its interface", version);
    ASK(cuCtxDestroy(made));
    ASK(cuCtxDestroy(nullptr));
    ASK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    ASK(cuCtxGetFlags(&flags));
    ask_number("flags of the primary context set", flags);
    ASK(cuDevicePrimaryCtxSetFlags(0, 0x1000));
}

}  // namespace

group const device_groups[] = {{"devices", devices},
                               {"device_attributes", device_attributes},
                               {"names_of_errors", names_of_errors},
                               {"context_settings", context_settings, alone},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
