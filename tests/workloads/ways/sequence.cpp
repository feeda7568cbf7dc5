#include "sequence.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace lastref::workload {
namespace {

int surprises = 0;

void check(char const* name, CUresult result, CUresult expected = CUDA_SUCCESS) {
    std::printf("%s: %d\n", name, static_cast<int>(result));
    if (result != expected) ++surprises;
}

#define STEP(name, ...) check(#name, call.name(__VA_ARGS__))

std::atomic<int> destroyed{0};

void destroy(void*) {
    ++destroyed;
}

void wait_for_destructors(int count) {
    for (int tries = 0; destroyed != count && tries < 5000; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::printf("destructors: %d\n", destroyed.load());
    if (destroyed != count) ++surprises;
}

void use_memory(driver_functions const& call) {
    CUdeviceptr memory = 0;
    unsigned char read = 0;
    STEP(cuMemAlloc, &memory, 4096);
    STEP(cuMemsetD8, memory, 7, 4096);
    STEP(cuMemcpyDtoH, &read, memory + 4095, 1);
    std::printf("value: %d\n", read);
    if (read != 7) ++surprises;
    STEP(cuMemFree, memory);
    check("cuMemFree again", call.cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

void use_streams(driver_functions const& call) {
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    STEP(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    STEP(cuMemAllocAsync, &memory, 1024, stream);
    STEP(cuMemFreeAsync, memory, stream);
    STEP(cuMemAllocAsync, &memory, 1024, nullptr);
    STEP(cuMemFreeAsync, memory, nullptr);
    STEP(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    STEP(cuEventRecord, event, stream);
    STEP(cuStreamSynchronize, stream);
    STEP(cuStreamSynchronize, nullptr);
    STEP(cuEventDestroy, event);
    STEP(cuStreamDestroy, stream);
}

void use_graphs(driver_functions const& call) {
    CUuserObject object = nullptr;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    STEP(cuGraphCreate, &graph, 0);
    STEP(cuGraphAddEmptyNode, &node, graph, nullptr, 0);
    STEP(cuUserObjectCreate, &object, &destroyed, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    STEP(cuGraphRetainUserObject, graph, object, 1, 0);
    STEP(cuUserObjectRelease, object, 1);
    STEP(cuGraphInstantiateWithFlags, &exec, graph, 0);
    STEP(cuGraphDestroy, graph);
    STEP(cuGraphLaunch, exec, nullptr);
    STEP(cuStreamSynchronize, nullptr);
    STEP(cuGraphExecDestroy, exec);
    wait_for_destructors(1);
}

}  // namespace

int run_sequence(driver_functions const& call) {
    CUdevice device = 0;
    CUcontext context = nullptr;
    STEP(cuInit, 0);
    STEP(cuDeviceGet, &device, 0);
    STEP(cuDevicePrimaryCtxRetain, &context, device);
    STEP(cuCtxSetCurrent, context);
    use_memory(call);
    use_streams(call);
    use_graphs(call);
    STEP(cuCtxSetCurrent, nullptr);
    STEP(cuDevicePrimaryCtxRelease, device);
    std::fflush(stdout);
    return surprises ? 1 : 0;
}

}  // namespace lastref::workload
