#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "probe.h"

namespace lastref::probe {
namespace {

void before_init() {
    int value = 0;
    CUcontext context = nullptr;
    char const* text = nullptr;
    ASK(cuDeviceGetCount(&value));
    ASK(cuCtxGetCurrent(&context));
    ASK(cuMemFree(0));
    ASK(cuDriverGetVersion(&value));
    ASK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
    ASK(cuGetErrorName(static_cast<CUresult>(998), &text));
    ASK(cuInit(1));
    ASK(cuInit(0));
    ASK(cuInit(0));
}

void none_current() {
    cuInit(0);
    CUcontext context = nullptr;
    CUdevice device = 0;
    CUdeviceptr memory = 0;
    void* host = nullptr;
    unsigned flags = 0;
    unsigned long long id = 0;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    std::size_t free = 0, total = 0;
    int at[4];
    ASK(cuCtxGetCurrent(&context));
    ASK(context == nullptr);
    ASK(cuCtxGetDevice(&device));
    ASK(cuCtxGetFlags(&flags));
    ASK(cuCtxPopCurrent(&context));
    ASK(cuCtxPushCurrent(nullptr));
    ASK(cuCtxSetCurrent(nullptr));
    ASK(cuCtxSynchronize());
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuMemAllocAsync(&memory, 64, nullptr));
    ASK(cuMemHostAlloc(&host, 64, 0));
    ASK(cuMemHostRegister(at, sizeof at, 0));
    ASK(cuMemGetInfo(&free, &total));
    ASK(cuStreamCreate(&stream, 0));
    ASK(cuStreamGetId(CU_STREAM_PER_THREAD, &id));
    ASK(cuStreamSynchronize(nullptr));
    ASK(cuEventCreate(&event, 0));
    ASK(cuMemFree(0));
    ASK(cuMemFreeHost(nullptr));
    ASK(cuMemFreeAsync(0, CU_STREAM_LEGACY));
}

void primary() {
    CUcontext first = nullptr, again = nullptr, now = nullptr;
    unsigned flags = 0;
    int active = 0;
    CUdeviceptr memory = 0, other = 0;
    cuInit(0);
    ASK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active at first", active);
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuDevicePrimaryCtxRetain(&first, 0));
    ASK(cuDevicePrimaryCtxRetain(&again, 0));
    ASK(first == again);
    ASK(cuCtxSetCurrent(first));
    CUstream const stream = make_stream();
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuCtxDestroy(first));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active after the last release", active);
    ASK(cuCtxGetCurrent(&now));
    ASK(now == first);
    ASK(cuMemAlloc(&other, 64));
    ASK(cuCtxSynchronize());
    ASK(cuStreamQuery(nullptr));
    ASK(cuMemFree(memory));
    ASK(cuCtxSetCurrent(nullptr));
    ASK(cuCtxSetCurrent(first));
    ASK(cuDevicePrimaryCtxRetain(&again, 0));
    ASK(first == again);
    ASK(cuCtxSetCurrent(again));
    ASK(cuMemAlloc(&other, 64));
    ASK(cuMemFree(other));
    ASK(cuStreamQuery(stream));
}

void primary_reset() {
    CUcontext const context = start();
    CUdeviceptr memory = 0;
    CUcontext now = nullptr;
    unsigned flags = 0;
    int active = 0;
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuDevicePrimaryCtxReset(0));
    ASK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active after reset", active);
    ASK(cuCtxGetCurrent(&now));
    ASK(now == context);
    ASK(cuMemAlloc(&memory, 64));
    ASK(cuDevicePrimaryCtxRelease(0));
}

void destroyed() {
    CUcontext context = nullptr, now = nullptr;
    CUdeviceptr plain = 0, ordered = 0, more = 0;
    start();
    ASK(cuCtxCreate(&context, nullptr, 0, 0));
    CUstream const inside = make_stream();
    ASK(cuMemAlloc(&plain, 64));
    ASK(cuMemAllocAsync(&ordered, 64, inside));
    std::atomic<int> step{0};
    std::thread other([&] {
        cuCtxSetCurrent(context);
        step = 1;
        while (step != 2) std::this_thread::yield();
        ASK(cuCtxGetCurrent(&now));
        ASK(now == context);
        ASK(cuMemAlloc(&more, 64));
        ASK(cuMemAllocAsync(&more, 64, CU_STREAM_LEGACY));
        ASK(cuStreamSynchronize(CU_STREAM_LEGACY));
        ASK(cuCtxSynchronize());
        ASK(cuCtxSetCurrent(nullptr));
    });
    while (step != 1) std::this_thread::yield();
    ASK(cuCtxDestroy(context));
    step = 2;
    other.join();
    ASK(cuCtxGetCurrent(&now));
    ASK(now != nullptr && now != context);
    ASK(cuMemFree(plain));
    CUstream const usable = make_stream();
    ASK(cuMemFreeAsync(ordered, usable));
}

void destroyed_handle_set() {
    CUcontext context = nullptr;
    start();
    ASK(cuCtxCreate(&context, nullptr, 0, 0));
    ASK(cuCtxDestroy(context));
    ASK(cuCtxSetCurrent(context));
}

void stack() {
    CUcontext first = nullptr, second = nullptr, popped = nullptr, now = nullptr;
    cuInit(0);
    ASK(cuCtxCreate(&first, nullptr, 0, 0));
    ASK(cuCtxCreate(&second, nullptr, 0, 0));
    ASK(cuCtxPushCurrent(first));
    ASK(cuCtxPushCurrent(first));
    ASK(cuCtxPopCurrent(&popped));
    ASK(popped == first);
    ASK(cuCtxSetCurrent(nullptr));
    ASK(cuCtxGetCurrent(&now));
    ASK(now == second);
    ASK(cuCtxDestroy(first));
    ASK(cuCtxPopCurrent(&popped));
    ASK(cuCtxPopCurrent(&popped));
    ASK(cuCtxPopCurrent(&popped));
    ASK(cuCtxDestroy(second));
}

void forked() {
    start();
    if (fork() == 0) {
        int value = 0;
        char const* text = nullptr;
        CUdeviceptr memory = 0;
        ASK(cuInit(0));
        ASK(cuDeviceGetCount(&value));
        ASK(cuDriverGetVersion(&value));
        ASK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
        ASK(cuMemAlloc(&memory, 64));
        _exit(0);
    }
    wait(nullptr);
}

void ask_after_teardown() {
    int value = 0;
    char const* text = nullptr;
    void* address = nullptr;
    ASK(cuInit(0));
    ASK(cuDeviceGetCount(&value));
    ASK(cuDriverGetVersion(&value));
    ASK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
    ASK(cuGetProcAddress("cuInit", &address, 12000, 0, nullptr));
    ASK(cuMemFree(0));
    ASK(cuCtxSetCurrent(nullptr));
    std::fflush(stdout);
    _exit(0);
}

void after_teardown() {
    std::atexit(ask_after_teardown);
    start();
    std::exit(0);
}

}  // namespace

group const context_groups[] = {{"before_init", before_init},
                                {"none_current", none_current},
                                {"primary", primary},
                                {"primary_reset", primary_reset},
                                {"destroyed", destroyed},
                                {"destroyed_handle_set", destroyed_handle_set},
                                {"stack", stack},
                                {"forked", forked},
                                {"after_teardown", after_teardown},
                                {nullptr, nullptr}};

}  // namespace lastref::probe
