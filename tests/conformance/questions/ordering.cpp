// Which work waits for which, and which calls wait for work. A gate holds a stream up; what happens while it is closed
// happens in spite of it.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

// Whether work of `other` is done while `held` is held up.
void runs_beside(char const* question, CUstream held, CUstream other) {
    mark done;
    gate shut(held);
    done.set_by(other);
    ask(question, done.set_soon() && shut.closed());
    shut.open();
    cuCtxSynchronize();
}

void streams_beside_each_other() {
    CUcontext const context = start();
    CUstream const blocking = make_stream(CU_STREAM_DEFAULT), blocking_too = make_stream(CU_STREAM_DEFAULT);
    CUstream const free = make_stream(), free_too = make_stream();
    runs_beside("blocking beside blocking", blocking, blocking_too);
    runs_beside("non-blocking beside non-blocking", free, free_too);
    runs_beside("non-blocking beside legacy", CU_STREAM_LEGACY, free);
    runs_beside("blocking beside legacy", CU_STREAM_LEGACY, blocking);
    runs_beside("per-thread beside legacy", CU_STREAM_LEGACY, CU_STREAM_PER_THREAD);
    runs_beside("legacy beside blocking", blocking, CU_STREAM_LEGACY);
    runs_beside("legacy beside non-blocking", free, CU_STREAM_LEGACY);
    runs_beside("legacy beside per-thread", CU_STREAM_PER_THREAD, CU_STREAM_LEGACY);
    runs_beside("blocking beside per-thread", CU_STREAM_PER_THREAD, blocking);
    runs_beside("null beside blocking", blocking, nullptr);
    mark done;
    gate shut(CU_STREAM_PER_THREAD);
    elsewhere_in(context, [&] { done.set_by(CU_STREAM_PER_THREAD); });
    ask("per-thread beside another thread's", done.set_soon() && shut.closed());
}

void legacy_between() {
    start();
    CUstream const first = make_stream(CU_STREAM_DEFAULT), second = make_stream(CU_STREAM_DEFAULT);
    mark before, between, after;
    gate shut(first);
    ASK(before.set_by(first));
    ASK(between.set_by(CU_STREAM_LEGACY));
    ASK(after.set_by(second));
    ask("work of the second stream overtakes the legacy stream", after.set_soon());
    ASK(cuStreamQuery(first));
    ASK(cuStreamQuery(CU_STREAM_LEGACY));
    ASK(cuStreamQuery(second));
    shut.open();
    ASK(cuStreamSynchronize(second));
    ask("synchronizing the second has finished the first", before.set() && between.set());
}

void events_between() {
    start();
    CUstream const first = make_stream(), second = make_stream(), third = make_stream();
    CUevent event = nullptr;
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    mark done, unrelated;
    gate shut(first);
    ASK(cuEventRecord(event, first));
    ASK(cuStreamWaitEvent(second, event, 0));
    ASK(done.set_by(second));
    ASK(unrelated.set_by(third));
    ask("waiting stream runs", done.set_soon());
    ask("another stream runs", unrelated.set_soon());
    ASK(cuEventQuery(event));
    ASK(cuStreamQuery(second));
    ASK(cuStreamQuery(third));
    ASK(cuEventRecord(event, third));
    ASK(cuEventSynchronize(event));
    ASK(cuEventQuery(event));
    ask("recording it again lets the waiting stream go", done.set_soon());
    shut.open();
    ASK(cuStreamSynchronize(second));
    ask("waiting stream has run", done.set());
}

void event_destroyed_while_awaited() {
    start();
    CUstream const first = make_stream(), second = make_stream();
    CUevent event = nullptr;
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    mark done;
    gate shut(first);
    ASK(cuEventRecord(event, first));
    ASK(cuStreamWaitEvent(second, event, 0));
    ASK(done.set_by(second));
    ASK(cuEventDestroy(event));
    ask("destroy returns while the event is due", shut.closed());
    ask("waiting stream runs", done.set_soon() && shut.closed());
    shut.open();
    ASK(cuStreamSynchronize(second));
    ask("waiting stream has run", done.set());
}

void stream_destroyed_at_work() {
    start();
    CUstream const gone = make_stream();
    CUevent event = nullptr;
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    mark done;
    gate shut(gone);
    ASK(done.set_by(gone));
    ASK(cuEventRecord(event, gone));
    ASK(cuStreamDestroy(gone));
    ask("destroy returns while work is due", shut.closed());
    ASK(cuEventQuery(event));
    shut.open();
    ASK(cuEventSynchronize(event));
    ask("work has completed", done.set());
}

void free_on_stream_destroyed_at_work() {
    start();
    CUstream const gone = make_stream();
    CUdeviceptr memory = 0;
    ASK(cuMemAllocAsync(&memory, 4096, gone));
    gate shut(gone);
    ASK(cuMemFreeAsync(memory, gone));
    ASK(cuStreamDestroy(gone));
    shut.open();
    ASK(cuCtxSynchronize());
    CUstream const other = make_stream();
    ASK(cuMemFreeAsync(memory, other));
}

std::string order;

template <char name>
void CUDA_CB note(void*) {
    order += name;
}

template <char name>
void CUDA_CB note_callback(CUstream, CUresult status, void*) {
    order += name;
    if (status != CUDA_SUCCESS) order += '!';
}

void host_functions_in_order() {
    start();
    CUstream const stream = make_stream();
    ASK(cuLaunchHostFunc(stream, note<'a'>, nullptr));
    ASK(cuStreamAddCallback(stream, note_callback<'b'>, nullptr, 0));
    ASK(cuLaunchHostFunc(stream, note<'c'>, nullptr));
    ASK(cuStreamAddCallback(stream, note_callback<'d'>, nullptr, 0));
    ASK(cuStreamSynchronize(stream));
    ask_text("order", order);
}

struct slow {
    std::atomic<bool> entered{false}, leave{false};
    void wait_for_entry() const {
        for (int tries = 0; !entered && tries < 2000; ++tries) settle(1);
    }
};

void CUDA_CB linger(void* data) {
    auto& what = *static_cast<slow*>(data);
    what.entered = true;
    for (int tries = 0; !what.leave && tries < 300; ++tries) settle(1);
}

void CUDA_CB linger_callback(CUstream, CUresult, void* data) {
    linger(data);
}

void host_function_holds_its_stream() {
    start();
    CUstream const stream = make_stream(), other = make_stream();
    slow function, callback;
    mark after_function, after_callback, beside;
    ASK(cuLaunchHostFunc(stream, linger, &function));
    ASK(after_function.set_by(stream));
    function.wait_for_entry();
    ASK(cuStreamQuery(stream));
    ASK(beside.set_by(other));
    ask("another stream runs", beside.set_soon());
    ask("work behind a host function overtakes it", after_function.set_soon());
    function.leave = true;
    ASK(cuStreamSynchronize(stream));
    ASK(cuStreamAddCallback(stream, linger_callback, &callback, 0));
    ASK(after_callback.set_by(stream));
    callback.wait_for_entry();
    ask("work behind a callback overtakes it", after_callback.set_soon());
    callback.leave = true;
    ASK(cuStreamSynchronize(stream));
}

void host_functions_of_two_streams() {
    start();
    CUstream const first = make_stream(), second = make_stream();
    slow holding;
    std::atomic<int> run{0};
    ASK(cuLaunchHostFunc(first, linger, &holding));
    holding.wait_for_entry();
    ASK(cuLaunchHostFunc(
        second, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &run));
    settle(60);
    ask_number("host functions of another stream run meanwhile", run);
    holding.leave = true;
    ASK(cuStreamSynchronize(second));
    ask_number("host functions of another stream run at last", run);
}

void destructor_waits_for_host_function() {
    start();
    CUstream const stream = make_stream();
    slow holding;
    std::atomic<int> destroyed{0};
    CUuserObject object = nullptr;
    cuUserObjectCreate(
        &object, &destroyed, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, 1, 1);
    ASK(cuLaunchHostFunc(stream, linger, &holding));
    holding.wait_for_entry();
    ASK(cuUserObjectRelease(object, 1));
    settle(60);
    ask_number("destructors run while a host function does", destroyed);
    holding.leave = true;
    ASK(cuStreamSynchronize(stream));
    ask_number("destructors run after it", eventually(destroyed, 1));
}

// Whether a call returns while work of a stream that does not block is held up.
template <class Call>
void returns_beside_work(char const* question, Call call, unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream const stream = make_stream(flags);
    gate shut(stream);
    CUresult const result = call(stream);
    bool const returned = shut.closed();
    shut.open();
    cuCtxSynchronize();
    ask(question, returned);
    ask((std::string(question) + ": result").c_str(), result);
}

void calls_beside_work() {
    start();
    CUdeviceptr memory = 0, made = 0, ordered = 0, managed = 0;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    void *host = nullptr, *page = std::aligned_alloc(4096, 4096);
    unsigned char bytes[16] = {};
    cuMemAlloc(&memory, 4096);
    returns_beside_work("cuMemAlloc", [&](CUstream) { return cuMemAlloc(&made, 64); });
    returns_beside_work("cuMemFree", [&](CUstream) { return cuMemFree(made); });
    cuMemAlloc(&made, 4096);
    returns_beside_work(
        "cuMemFree, blocking stream", [&](CUstream) { return cuMemFree(made); }, CU_STREAM_DEFAULT);
    returns_beside_work("cuMemAllocAsync", [&](CUstream on) { return cuMemAllocAsync(&ordered, 64, on); });
    returns_beside_work("cuMemFreeAsync", [&](CUstream on) { return cuMemFreeAsync(ordered, on); });
    cuMemAllocAsync(&ordered, 64, CU_STREAM_LEGACY);
    cuCtxSynchronize();
    returns_beside_work("cuMemFree of stream-ordered memory", [&](CUstream) { return cuMemFree(ordered); });
    returns_beside_work("cuMemHostAlloc", [&](CUstream) { return cuMemHostAlloc(&host, 64, 0); });
    returns_beside_work("cuMemFreeHost", [&](CUstream) { return cuMemFreeHost(host); });
    returns_beside_work("cuMemHostRegister", [&](CUstream) { return cuMemHostRegister(page, 4096, 0); });
    returns_beside_work("cuMemHostUnregister", [&](CUstream) { return cuMemHostUnregister(page); });
    returns_beside_work("cuMemAllocManaged", [&](CUstream) { return cuMemAllocManaged(&managed, 64, 1); });
    returns_beside_work("cuMemFree of managed memory", [&](CUstream) { return cuMemFree(managed); });
    returns_beside_work("cuMemcpyHtoD", [&](CUstream) { return cuMemcpyHtoD(memory, bytes, 16); });
    returns_beside_work("cuMemcpyDtoH", [&](CUstream) { return cuMemcpyDtoH(bytes, memory, 16); });
    returns_beside_work(
        "cuMemcpyDtoH, blocking stream", [&](CUstream) { return cuMemcpyDtoH(bytes, memory, 16); }, CU_STREAM_DEFAULT);
    returns_beside_work("cuMemcpyHtoDAsync from pageable memory",
                        [&](CUstream on) { return cuMemcpyHtoDAsync(memory, bytes, 16, on); });
    returns_beside_work("cuMemsetD8", [&](CUstream) { return cuMemsetD8(memory, 1, 16); });
    returns_beside_work(
        "cuMemsetD8, blocking stream", [&](CUstream) { return cuMemsetD8(memory, 1, 16); }, CU_STREAM_DEFAULT);
    returns_beside_work("cuStreamCreate", [&](CUstream) { return cuStreamCreate(&stream, 0); });
    returns_beside_work("cuStreamDestroy", [&](CUstream) { return cuStreamDestroy(stream); });
    returns_beside_work("cuEventCreate", [&](CUstream) { return cuEventCreate(&event, 0); });
    returns_beside_work("cuEventDestroy", [&](CUstream) { return cuEventDestroy(event); });
    returns_beside_work("cuStreamSynchronize", [&](CUstream on) { return cuStreamSynchronize(on); });
    returns_beside_work("cuStreamSynchronize of legacy",
                        [&](CUstream) { return cuStreamSynchronize(CU_STREAM_LEGACY); });
    returns_beside_work(
        "cuStreamSynchronize of legacy, blocking stream",
        [&](CUstream) { return cuStreamSynchronize(CU_STREAM_LEGACY); }, CU_STREAM_DEFAULT);
    returns_beside_work(
        "cuStreamSynchronize of per-thread, blocking stream",
        [&](CUstream) { return cuStreamSynchronize(CU_STREAM_PER_THREAD); }, CU_STREAM_DEFAULT);
    returns_beside_work("cuCtxSynchronize", [&](CUstream) { return cuCtxSynchronize(); });
    returns_beside_work("cuStreamQuery", [&](CUstream on) { return cuStreamQuery(on); });
    std::free(page);
}

void graph_calls_beside_work() {
    CUcontext const context = start();
    CUgraph graph = nullptr, clone = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr, launched = nullptr;
    CUdeviceptr memory = 0;
    CUDA_MEMSET_NODE_PARAMS set{};
    CUgraphExecUpdateResultInfo info{};
    cuMemAlloc(&memory, 64);
    set.dst = memory;
    set.elementSize = 4;
    set.width = set.height = 1;
    cuGraphCreate(&graph, 0);
    cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, context);
    cuGraphInstantiate(&launched, graph, 0);
    returns_beside_work("cuGraphInstantiate", [&](CUstream) { return cuGraphInstantiate(&exec, graph, 0); });
    returns_beside_work("cuGraphLaunch", [&](CUstream on) { return cuGraphLaunch(launched, on); });
    returns_beside_work("cuGraphUpload", [&](CUstream on) { return cuGraphUpload(exec, on); });
    returns_beside_work("cuGraphExecUpdate of a waiting graph", [&](CUstream on) {
        cuGraphLaunch(launched, on);
        return cuGraphExecUpdate(launched, graph, &info);
    });
    returns_beside_work("cuGraphExecDestroy of a waiting graph", [&](CUstream on) {
        cuGraphLaunch(launched, on);
        return cuGraphExecDestroy(launched);
    });
    returns_beside_work("cuGraphClone", [&](CUstream) { return cuGraphClone(&clone, graph); });
    returns_beside_work("cuGraphDestroy", [&](CUstream) { return cuGraphDestroy(clone); });
    returns_beside_work("cuDeviceGraphMemTrim", [&](CUstream) { return cuDeviceGraphMemTrim(0); });
}

void pool_calls_beside_work() {
    start();
    CUmemoryPool pool = nullptr;
    CUmemPoolProps props{};
    CUdeviceptr memory = 0;
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    returns_beside_work("cuMemPoolCreate", [&](CUstream) { return cuMemPoolCreate(&pool, &props); });
    returns_beside_work("cuMemAllocFromPoolAsync",
                        [&](CUstream on) { return cuMemAllocFromPoolAsync(&memory, 64, pool, on); });
    returns_beside_work("cuMemPoolTrimTo", [&](CUstream) { return cuMemPoolTrimTo(pool, 0); });
    returns_beside_work("cuMemPoolDestroy with a free due", [&](CUstream on) {
        cuMemFreeAsync(memory, on);
        return cuMemPoolDestroy(pool);
    });
}

void one_exec_on_two_streams() {
    start();
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    static std::atomic<int> run{0};
    CUDA_HOST_NODE_PARAMS const host{[](void*) { ++run; }, nullptr};
    CUstream const first = make_stream(), second = make_stream();
    cuGraphCreate(&graph, 0);
    cuGraphAddHostNode(&node, graph, nullptr, 0, &host);
    cuGraphInstantiate(&exec, graph, 0);
    gate shut(first);
    ASK(cuGraphLaunch(exec, first));
    ASK(cuGraphLaunch(exec, second));
    settle(60);
    ask_number("launches that ran while the first was held up", run);
    shut.open();
    ASK(cuStreamSynchronize(first));
    ASK(cuStreamSynchronize(second));
    ask_number("launches that ran", run);
}

}  // namespace

group const ordering_groups[] = {{"streams_beside_each_other", streams_beside_each_other},
                                 {"legacy_between", legacy_between},
                                 {"events_between", events_between},
                                 {"event_destroyed_while_awaited", event_destroyed_while_awaited},
                                 {"stream_destroyed_at_work", stream_destroyed_at_work},
                                 {"free_on_stream_destroyed_at_work", free_on_stream_destroyed_at_work},
                                 {"host_functions_in_order", host_functions_in_order},
                                 {"host_function_holds_its_stream", host_function_holds_its_stream},
                                 {"host_functions_of_two_streams", host_functions_of_two_streams},
                                 {"destructor_waits_for_host_function", destructor_waits_for_host_function},
                                 {"calls_beside_work", calls_beside_work, alone},
                                 {"graph_calls_beside_work", graph_calls_beside_work},
                                 {"pool_calls_beside_work", pool_calls_beside_work},
                                 {"one_exec_on_two_streams", one_exec_on_two_streams},
                                 {nullptr, nullptr}};

}  // namespace lastref::conformance
