#include <dlfcn.h>

#include <string>

#include "probe.h"

namespace lastref::probe {
namespace {

void* library() {
    return dlopen("libcuda.so.1", RTLD_NOW);
}

// Which symbol the driver hands out for a name, said by its suffix: 0 none, 1 plain, 2 _v2 ..., 10 added for
// per-thread.
long long which(char const* name, int version, cuuint64_t flags) {
    void* address = nullptr;
    cuGetProcAddress(name, &address, version, flags, nullptr);
    if (!address) return 0;
    static char const* const suffixes[] = {"", "_v2", "_v3", "_v4"};
    for (int index = 0; index < 4; ++index) {
        std::string const symbol = std::string(name) + suffixes[index];
        if (dlsym(library(), symbol.c_str()) == address) return index + 1;
        if (dlsym(library(), (symbol + "_ptsz").c_str()) == address) return index + 11;
        if (dlsym(library(), (symbol + "_ptds").c_str()) == address) return index + 11;
    }
    return -1;
}

void variants() {
    for (char const* const name : {"cuMemAlloc",
                                   "cuMemFree",
                                   "cuMemsetD8",
                                   "cuMemcpyHtoDAsync",
                                   "cuMemAllocAsync",
                                   "cuStreamBeginCapture",
                                   "cuStreamGetCaptureInfo",
                                   "cuGraphInstantiate",
                                   "cuGraphExecUpdate",
                                   "cuGraphAddKernelNode",
                                   "cuGraphAddNode",
                                   "cuCtxCreate",
                                   "cuCtxDestroy",
                                   "cuDevicePrimaryCtxRelease",
                                   "cuEventElapsedTime",
                                   "cuStreamWaitValue32",
                                   "cuGetProcAddress",
                                   "cuMemPrefetchAsync",
                                   "cuLaunchKernel",
                                   "cuGraphInstantiateWithParams"}) {
        for (int const version : {2000, 3020, 7000, 11000, 11030, 12000, 12080, 13000}) {
            std::string const question = std::string(name) + " " + std::to_string(version);
            ask_number(question.c_str(), which(name, version, 0));
            ask_number((question + " per-thread").c_str(),
                       which(name, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
        }
    }
}

void failures() {
    void* address = &address;
    CUdriverProcAddressQueryResult status{};
    auto const first =
        reinterpret_cast<CUresult (*)(char const*, void**, int, cuuint64_t)>(dlsym(library(), "cuGetProcAddress"));
    ASK(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, &status));
    ask_number("status", status);
    ask("address is null", address == nullptr);
    ASK(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, nullptr));
    ASK(cuGetProcAddress("cuMemAlloc_v2", &address, 12000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAllocAsync", &address, 11000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAlloc", &address, 99000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAlloc", &address, 0, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 12000, 4, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 12000, 3, &status));
    ASK(cuGetProcAddress(nullptr, &address, 12000, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", nullptr, 12000, 0, &status));
    ASK(cuGetProcAddress("", &address, 12000, 0, &status));
    ask("first version: unknown name", first("cuNoSuchThing", &address, 12000, 0));
    ask("first version: known name", first("cuMemAlloc", &address, 12000, 0));
}

}  // namespace

group const lookup_groups[] = {{"variants", variants}, {"failures", failures}, {nullptr, nullptr}};

}  // namespace lastref::probe
