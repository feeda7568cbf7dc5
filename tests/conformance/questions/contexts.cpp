#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "questions.h"

namespace lastref::conformance {
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

// A context with one of everything, and the primary context beside it.
struct two_contexts {
    CUcontext primary = start(), made = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0, ordered = 0;
    void* host = nullptr;

    two_contexts() {
        ask("cuCtxCreate", cuCtxCreate(&made, nullptr, 0, 0));
        stream = make_stream();
        cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        cuMemAlloc(&memory, 4096);
        cuMemAllocAsync(&ordered, 4096, stream);
        cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE);
        cuEventRecord(event, stream);
        cuCtxSynchronize();
    }

    void destroy_made() {
        ask("cuCtxDestroy", cuCtxDestroy(made));
        cuCtxSetCurrent(primary);
    }
};

void destroyed_contexts_event() {
    two_contexts s;
    s.destroy_made();
    ASK(cuEventQuery(s.event));
    ASK(cuEventDestroy(s.event));
}

void destroyed_contexts_stream() {
    two_contexts s;
    s.destroy_made();
    ASK(cuStreamQuery(s.stream));
    ASK(cuStreamDestroy(s.stream));
}

void destroyed_contexts_memory() {
    two_contexts s;
    unsigned char bytes[4] = {};
    CUmemorytype type{};
    s.destroy_made();
    ASK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.memory));
    ASK(cuMemFree(s.memory));
    ASK(cuMemsetD8(s.ordered, 5, 64));
    ASK(cuMemcpyDtoH(bytes, s.ordered, 4));
    ask_number("stream-ordered memory still holds", bytes[0]);
    ASK(cuMemFree(s.ordered));
    ASK(cuMemFreeHost(s.host));
}

void destroyed_contexts_virtual_memory() {
    two_contexts s;
    CUmemAllocationProp props{};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr range = 0;
    std::size_t const size = 2 << 20;
    unsigned char bytes[4] = {};
    props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc const access{props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASK(cuMemCreate(&handle, size, &props, 0));
    ASK(cuMemAddressReserve(&range, size, 0, 0, 0));
    ASK(cuMemMap(range, size, 0, handle, 0));
    ASK(cuMemSetAccess(range, size, &access, 1));
    s.destroy_made();
    ASK(cuMemsetD8(range, 6, 64));
    ASK(cuMemcpyDtoH(bytes, range, 4));
    ask_number("mapped memory still holds", bytes[0]);
    ASK(cuMemUnmap(range, size));
    ASK(cuMemAddressFree(range, size));
    ASK(cuMemRelease(handle));
}

void destroyed_contexts_module() {
    two_contexts s;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASK(cuModuleLoadData(&module,
                         ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n"));
    s.destroy_made();
    ASK(cuModuleGetFunction(&function, module, "nothing"));
    ASK(cuModuleUnload(module));
}

void destroyed_contexts_graph() {
    two_contexts s;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    s.destroy_made();
    ASK(cuGraphLaunch(exec, make_stream()));
    ASK(cuCtxSynchronize());
    ASK(cuGraphExecDestroy(exec));
    ASK(cuGraphDestroy(graph));
}

void destroyed_on_its_own_thread_stack() {
    two_contexts s;
    CUcontext now = nullptr;
    ASK(cuCtxPushCurrent(s.primary));
    ASK(cuCtxDestroy(s.made));
    ASK(cuCtxPopCurrent(&now));
    ask("popped the primary context", now == s.primary);
    ASK(cuCtxGetCurrent(&now));
    ask("the destroyed context is current again", now == s.made);
}

void destroyed_with_work_due() {
    two_contexts s;
    std::atomic<int> run{0};
    cuCtxSetCurrent(s.primary);  // whose memory the gate's word is: it outlives the other context
    gate shut(s.stream);
    cuLaunchHostFunc(
        s.stream, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &run);
    ASK(cuCtxDestroy(s.made));
    ask("destroy returns while work is due", shut.closed());
    settle();
    ask_number("host functions run", run);
}

void contexts_of_threads() {
    CUcontext const context = start();
    CUcontext now = nullptr, made = nullptr;
    elsewhere([&] {
        ask("a new thread: cuCtxGetCurrent", cuCtxGetCurrent(&now));
        ask("a new thread has none current", now == nullptr);
        ask("a new thread: cuMemAlloc", [] {
            CUdeviceptr memory = 0;
            return cuMemAlloc(&memory, 64);
        }());
    });
    ASK(cuCtxCreate(&made, nullptr, 0, 0));
    ASK(cuCtxGetCurrent(&now));
    ask("a created context is current", now == made);
    ASK(cuCtxPopCurrent(&now));
    ask("popped the created one", now == made);
    ASK(cuCtxGetCurrent(&now));
    ask("the one before is current", now == context);
    ASK(cuCtxSetCurrent(made));
    ASK(cuCtxPopCurrent(&now));
    ASK(cuCtxGetCurrent(&now));
    ask("set replaced the top", now == nullptr);
    ASK(cuCtxDestroy(made));
}

void reset_with_objects() {
    CUcontext const context = start();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0, ordered = 0, more = 0;
    CUcontext again = nullptr;
    cuMemAlloc(&memory, 64);
    cuMemAllocAsync(&ordered, 64, stream);
    cuStreamSynchronize(stream);
    ASK(cuDevicePrimaryCtxReset(0));
    ASK(cuMemAlloc(&more, 64));
    ASK(cuDevicePrimaryCtxRetain(&again, 0));
    ask("the same handle again", again == context);
    ASK(cuCtxSetCurrent(again));
    ASK(cuMemAlloc(&more, 64));
    ASK(cuMemFree(memory));
    ASK(cuMemFree(ordered));
}

}  // namespace

group const context_groups[] = {{"before_init", before_init, alone},
                                {"none_current", none_current, alone},
                                {"primary", primary, alone},
                                {"primary_reset", primary_reset, alone},
                                {"destroyed", destroyed},
                                {"destroyed_handle_set", destroyed_handle_set, alone},
                                {"stack", stack},
                                {"forked", forked, alone},
                                {"after_teardown", after_teardown, alone},
                                {"destroyed_contexts_event", destroyed_contexts_event, alone},
                                {"destroyed_contexts_stream", destroyed_contexts_stream, alone},
                                {"destroyed_contexts_memory", destroyed_contexts_memory},
                                {"destroyed_contexts_virtual_memory", destroyed_contexts_virtual_memory},
                                {"destroyed_contexts_module", destroyed_contexts_module, alone},
                                {"destroyed_contexts_graph", destroyed_contexts_graph},
                                {"destroyed_on_its_own_thread_stack", destroyed_on_its_own_thread_stack},
                                {"destroyed_with_work_due", destroyed_with_work_due, alone},
                                {"contexts_of_threads", contexts_of_threads},
                                {"reset_with_objects", reset_with_objects, alone},
                                {nullptr, nullptr}};

}  // namespace lastref::conformance
