// Frees and their order: unordered-free, ptds-cross-thread-free, ptds-graph-attach, incomplete-recipe,
// pinned-free-in-flight.
#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

void free_on(CUdeviceptr buffer, CUstream on) {
    MUST(cuMemFreeAsync(buffer, on));
}

// As code that keeps nothing but the token: which stream it means depends on who calls.
void free_on_own(CUdeviceptr buffer) {
    MUST(cuMemFreeAsync(buffer, CU_STREAM_PER_THREAD));
}

// A pool that keeps what is freed: on a real device the work that comes too late would else find its memory gone, and
// fail with an illegal address, which is another rule's program.
void keep_freed_memory() {
    CUmemoryPool pool = nullptr;
    cuuint64_t threshold = 64 << 20;
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
}

}  // namespace

FAULT(unordered_free, other_stream) {
    keep_freed_memory();
    stream const a, b;
    free_on(used_buffer(a), b);
}

FAULT(unordered_free, default_stream_beside_a_non_blocking_one) {
    stream const a;
    free_on(buffer_on(CU_STREAM_LEGACY), a);
}

FAULT(unordered_free, event_recorded_too_early) {
    keep_freed_memory();
    stream const a, b;
    event const done;
    auto const buffer = buffer_on(a);
    MUST(cuEventRecord(done, a));
    MUST(cuMemsetD8Async(buffer, 1, bytes, a));
    MUST(cuStreamWaitEvent(b, done, 0));
    free_on(buffer, b);
}

FAULT(unordered_free, without_a_stream) {
    stream const a;
    MUST(cuMemFree(used_buffer(a)));
}

FAULT(unordered_free, stream_of_the_same_handle) {
    keep_freed_memory();
    stream a;
    auto const buffer = used_buffer(a);
    a.destroy();
    stream const b;  // often with the first one's handle
    free_on(buffer, b);
}

HEALTHY(unordered_free, event) {
    stream const a, b;
    event const done;
    auto const buffer = used_buffer(a);
    MUST(cuEventRecord(done, a));
    MUST(cuStreamWaitEvent(b, done, 0));
    free_on(buffer, b);
}

HEALTHY(unordered_free, over_a_third_stream) {
    stream const a, b, c;
    event const first, second;
    auto const buffer = used_buffer(a);
    MUST(cuEventRecord(first, a));
    MUST(cuStreamWaitEvent(c, first, 0));
    MUST(cuEventRecord(second, c));
    MUST(cuStreamWaitEvent(b, second, 0));
    free_on(buffer, b);
}

HEALTHY(unordered_free, legacy_stream_after_a_blocking_one) {
    stream const a(CU_STREAM_DEFAULT);
    free_on(used_buffer(a), CU_STREAM_LEGACY);
}

HEALTHY(unordered_free, host_waited) {
    stream const a, b;
    auto const buffer = used_buffer(a);
    on_thread([&] { a.synchronize(); });
    free_on(buffer, b);
}

HEALTHY(unordered_free, host_function_told) {
    stream const a, b;
    std::atomic<int> told{0};
    auto const buffer = used_buffer(a);
    MUST(cuLaunchHostFunc(
        a, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &told));
    workload::becomes(told, 1);
    free_on(buffer, b);
    a.synchronize();
}

namespace {

// A capture of two streams: the second has joined after the allocation, and joins again before the end.
class forked_capture {
  public:
    forked_capture() {
        MUST(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        MUST(cuMemAllocAsync(&buffer, bytes, a));
        after(b, a, forked_);
    }
    void use_on(CUstream on) const { MUST(cuMemsetD8Async(buffer, 1, bytes, on)); }
    void after(CUstream later, CUstream earlier, CUevent by) const {
        MUST(cuEventRecord(by, earlier));
        MUST(cuStreamWaitEvent(later, by, 0));
    }
    void join() const { after(a, b, joined_); }
    void launch() const {
        CUgraph graph = nullptr;
        MUST(cuStreamEndCapture(a, &graph));
        auto const exec = instantiated(graph);
        MUST(cuGraphLaunch(exec, a));
        a.synchronize();
        MUST(cuGraphExecDestroy(exec));
    }
    stream const a, b;
    CUdeviceptr buffer = 0;

  private:
    event const forked_, joined_;
};

}  // namespace

FAULT(unordered_free, captured_beside_the_use) {
    forked_capture const of;
    of.use_on(of.b);
    free_on(of.buffer, of.a);
    of.join();
    of.launch();
}

FAULT(unordered_free, captured_event_recorded_too_early) {
    forked_capture const of;
    event const used;
    of.use_on(of.b);
    MUST(cuEventRecord(used, of.b));
    of.use_on(of.b);
    MUST(cuStreamWaitEvent(of.a, used, 0));
    free_on(of.buffer, of.a);
    of.join();
    of.launch();
}

HEALTHY(unordered_free, captured_after_the_join) {
    forked_capture const of;
    of.use_on(of.b);
    of.join();
    free_on(of.buffer, of.a);
    of.launch();
}

HEALTHY(unordered_free, captured_on_the_stream_that_used_it) {
    forked_capture const of;
    of.use_on(of.b);
    free_on(of.buffer, of.b);
    of.join();
    of.launch();
}

FAULT(ptds_cross_thread_free, used_here_freed_there) {
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = used_buffer(CU_STREAM_PER_THREAD); });
    on_thread([&] { free_on_own(buffer); });
}

FAULT(ptds_cross_thread_free, allocated_here_freed_there) {
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = buffer_on(CU_STREAM_PER_THREAD); });
    on_thread([&] { free_on_own(buffer); });
}

HEALTHY(ptds_cross_thread_free, on_its_own_thread) {
    on_thread([] { free_on_own(used_buffer(CU_STREAM_PER_THREAD)); });
    on_thread([] { free_on_own(used_buffer(CU_STREAM_PER_THREAD)); });
}

HEALTHY(ptds_cross_thread_free, after_an_event) {
    CUdeviceptr buffer = 0;
    event const done;
    on_thread([&] {
        buffer = used_buffer(CU_STREAM_PER_THREAD);
        MUST(cuEventRecord(done, CU_STREAM_PER_THREAD));
    });
    on_thread([&] {
        MUST(cuStreamWaitEvent(CU_STREAM_PER_THREAD, done, 0));
        free_on_own(buffer);
    });
}

HEALTHY(ptds_cross_thread_free, by_the_legacy_stream) {
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = used_buffer(CU_STREAM_PER_THREAD); });
    on_thread([&] { free_on(buffer, CU_STREAM_LEGACY); });
}

namespace {

// Allocates, and gives the memory to a graph that lets go of it at once; the payload is the memory's address.
CUdeviceptr given_to_a_graph(CUstream on, std::atomic<int>& destroyed) {
    static std::atomic<int>* counter;
    counter = &destroyed;
    auto const buffer = used_buffer(on);
    auto const graph = empty_graph();
    CUuserObject object = nullptr;
    MUST(cuUserObjectCreate(
        &object, reinterpret_cast<void*>(buffer), [](void*) { ++*counter; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    move_into(graph, object);
    MUST(cuGraphDestroy(graph));
    workload::becomes(destroyed, 1);
    return buffer;
}

}  // namespace

FAULT(ptds_graph_attach, freed_by_a_thread_that_cleans_up) {
    std::atomic<int> destroyed{0};
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = given_to_a_graph(CU_STREAM_PER_THREAD, destroyed); });
    on_thread([&] { free_on_own(buffer); });
}

FAULT(ptds_graph_attach, freed_on_a_stream_of_its_own) {
    std::atomic<int> destroyed{0};
    stream const cleanup;
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = given_to_a_graph(CU_STREAM_PER_THREAD, destroyed); });
    on_thread([&] { free_on(buffer, cleanup); });
}

HEALTHY(ptds_graph_attach, freed_on_its_own_thread) {
    on_thread([] {
        std::atomic<int> destroyed{0};
        free_on_own(given_to_a_graph(CU_STREAM_PER_THREAD, destroyed));
    });
}

HEALTHY(ptds_graph_attach, created_stream) {
    std::atomic<int> destroyed{0};
    stream const kept;
    CUdeviceptr buffer = 0;
    on_thread([&] { buffer = given_to_a_graph(kept, destroyed); });
    on_thread([&] { free_on(buffer, kept); });
}

namespace {

// A second context, current in its scope.
class other_context {
  public:
    other_context() {
        CUdevice device = 0;
        MUST(cuDeviceGet(&device, 0));
        MUST(cuCtxCreate(&handle_, nullptr, 0, device));
    }
    ~other_context() { MUST(cuCtxDestroy(handle_)); }
    other_context(other_context const&) = delete;

  private:
    CUcontext handle_ = nullptr;
};

}  // namespace

FAULT(incomplete_recipe, legacy_token_under_another_context) {
    auto const buffer = used_buffer(CU_STREAM_LEGACY);
    other_context const other;
    free_on(buffer, CU_STREAM_LEGACY);
}

FAULT(incomplete_recipe, per_thread_token_under_another_context) {
    auto const buffer = used_buffer(CU_STREAM_PER_THREAD);
    other_context const other;
    free_on_own(buffer);
}

HEALTHY(incomplete_recipe, context_made_current_for_the_free) {
    auto const buffer = used_buffer(CU_STREAM_LEGACY);
    other_context const other;
    CUcontext popped = nullptr;
    MUST(cuCtxPushCurrent(context()));
    free_on(buffer, CU_STREAM_LEGACY);
    MUST(cuCtxPopCurrent(&popped));
}

HEALTHY(incomplete_recipe, created_stream_brings_its_context) {
    stream const a;
    auto const buffer = used_buffer(a);
    other_context const other;
    free_on(buffer, a);
}

namespace {

struct pinned_copy {
    explicit pinned_copy(CUstream on) {
        MUST(cuMemAlloc(&device, bytes));
        MUST(cuMemAllocHost(&host, bytes));
        MUST(cuMemcpyHtoDAsync(device, host, bytes, on));
    }
    CUdeviceptr device = 0;
    void* host = nullptr;
};

}  // namespace

FAULT(pinned_free_in_flight, freed_without_a_wait) {
    stream const a;
    pinned_copy const copy(a);
    MUST(cuMemFreeHost(copy.host));
    MUST(cuMemFree(copy.device));
}

FAULT(pinned_free_in_flight, unregistered_without_a_wait) {
    stream const a;
    CUdeviceptr device = 0;
    std::vector<char> memory(bytes);
    MUST(cuMemAlloc(&device, bytes));
    MUST(cuMemHostRegister(memory.data(), bytes, 0));
    MUST(cuMemcpyDtoHAsync(memory.data(), device, bytes, a));
    MUST(cuMemHostUnregister(memory.data()));
    MUST(cuMemFree(device));
}

FAULT(pinned_free_in_flight, waited_for_another_stream) {
    stream const a, b;
    pinned_copy const copy(a);
    b.synchronize();
    MUST(cuMemFreeHost(copy.host));
    MUST(cuMemFree(copy.device));
}

HEALTHY(pinned_free_in_flight, waited_for_the_stream) {
    stream const a;
    pinned_copy const copy(a);
    a.synchronize();
    MUST(cuMemFreeHost(copy.host));
    MUST(cuMemFree(copy.device));
}

HEALTHY(pinned_free_in_flight, waited_for_an_event_on_another_stream) {
    stream const a, b;
    event const sent, later;
    pinned_copy const copy(a);
    MUST(cuEventRecord(sent, a));
    MUST(cuStreamWaitEvent(b, sent, 0));
    MUST(cuEventRecord(later, b));
    MUST(cuEventSynchronize(later));
    MUST(cuMemFreeHost(copy.host));
    MUST(cuMemFree(copy.device));
}

HEALTHY(pinned_free_in_flight, copy_that_returns_when_done) {
    CUdeviceptr device = 0;
    void* host = nullptr;
    MUST(cuMemAlloc(&device, bytes));
    MUST(cuMemAllocHost(&host, bytes));
    MUST(cuMemcpyDtoH(host, device, bytes));
    MUST(cuMemFreeHost(host));
    MUST(cuMemFree(device));
}

}  // namespace lastref::corpus
