// What the driver still does while the process ends, and for whom.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "questions.h"

namespace lastref::conformance {
namespace {

CUresult allocate() {
    CUdeviceptr memory = 0;
    return cuMemAlloc(&memory, 64);
}

struct asks_when_destroyed {
    char const* question;
    explicit asks_when_destroyed(char const* what) : question(what) {}
    ~asks_when_destroyed() { ask(question, allocate()); }
};

void statics_and_handlers() {
    std::atexit([] { ask("handler registered before cuInit", allocate()); });
    static asks_when_destroyed const before("static made before cuInit");
    int version = 0;
    cuDriverGetVersion(&version);
    std::atexit([] { ask("handler registered after cuDriverGetVersion", allocate()); });
    cuInit(0);
    std::atexit([] { ask("handler registered after cuInit", allocate()); });
    static asks_when_destroyed const after("static made after cuInit");
    start();
    std::atexit([] { ask("handler registered after the context", allocate()); });
    static asks_when_destroyed const last("static made after the context");
    std::exit(0);
}

// Objects made before teardown, and calls with them after it.
struct {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0, ordered = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUuserObject object = nullptr;
    CUmemoryPool pool = nullptr;
    CUmodule module = nullptr;
} held;

void after_teardown_with_objects() {
    int value = 0;
    CUdevice device = 0;
    CUcontext now = nullptr;
    CUgraph graph = nullptr;
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    unsigned long long id = 0;
    char const* text = nullptr;
    ASK(cuDeviceGet(&device, 0));
    ASK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ASK(cuCtxGetCurrent(&now));
    ASK(cuCtxSynchronize());
    ASK(cuCtxPushCurrent(held.context));
    ASK(cuCtxPopCurrent(&now));
    ASK(cuStreamCreate(&stream, 0));
    ASK(cuStreamQuery(held.stream));
    ASK(cuStreamSynchronize(held.stream));
    ASK(cuStreamGetId(held.stream, &id));
    ASK(cuEventQuery(held.event));
    ASK(cuEventDestroy(held.event));
    ASK(cuMemFree(held.memory));
    ASK(cuMemFreeAsync(held.ordered, held.stream));
    ASK(cuMemAllocAsync(&memory, 64, held.stream));
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphLaunch(held.exec, held.stream));
    ASK(cuGraphExecDestroy(held.exec));
    ASK(cuGraphDestroy(held.graph));
    ASK(cuUserObjectRelease(held.object, 1));
    ASK(cuUserObjectRetain(held.object, 1));
    ASK(cuMemPoolDestroy(held.pool));
    ASK(cuStreamDestroy(held.stream));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuDevicePrimaryCtxReset(0));
    ASK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    _exit(0);
}

void objects_after_teardown() {
    std::atexit(after_teardown_with_objects);
    CUmemPoolProps props{};
    CUgraphNode node = nullptr;
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    held.context = start();
    held.stream = make_stream();
    cuEventCreate(&held.event, 0);
    cuMemAlloc(&held.memory, 64);
    cuMemAllocAsync(&held.ordered, 64, held.stream);
    cuGraphCreate(&held.graph, 0);
    cuGraphAddEmptyNode(&node, held.graph, nullptr, 0);
    cuGraphInstantiate(&held.exec, held.graph, 0);
    cuUserObjectCreate(
        &held.object, nullptr, [](void*) {}, 1, 1);
    cuMemPoolCreate(&held.pool, &props);
    std::exit(0);
}

void exit_with_work_due() {
    static std::atomic<int> run{0};
    start();
    std::atexit([] { ask_number("before teardown: host functions run", run); });
    CUstream const stream = make_stream();
    ASK(cuLaunchHostFunc(
        stream,
        [](void*) {
            settle(100);
            ++run;
        },
        nullptr));
    std::exit(0);
}

void exit_of_thread() {
    CUcontext const context = start();
    static std::atomic<int> run{0};
    elsewhere_in(context, [] {
        cuLaunchHostFunc(
            CU_STREAM_PER_THREAD,
            [](void*) {
                settle(50);
                ++run;
            },
            nullptr);
    });
    ASK(cuCtxSynchronize());
    ask_number("work of an ended thread's stream has completed", run);
}

}  // namespace

group const exit_groups[] = {{"statics_and_handlers", statics_and_handlers, alone},
                             {"objects_after_teardown", objects_after_teardown, alone},
                             {"exit_with_work_due", exit_with_work_due, alone},
                             {"exit_of_thread", exit_of_thread, alone},
                             {nullptr, nullptr}};

}  // namespace lastref::conformance
