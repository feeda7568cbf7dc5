// What becomes of a pool's memory: thresholds, trims, destruction, and graphs' memory beside it.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

constexpr std::size_t size = 4 << 20;

CUmemPoolProps properties() {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return props;
}

CUmemoryPool make_pool() {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps const props = properties();
    ask("cuMemPoolCreate", cuMemPoolCreate(&pool, &props));
    return pool;
}

long long read(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    cuMemPoolGetAttribute(pool, which, &value);
    return static_cast<long long>(value);
}

void ask_reserved(char const* question, CUmemoryPool pool) {
    ask(question, read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
}

void pool_attributes() {
    start();
    CUmemoryPool const pool = make_pool();
    CUmemoryPool standard = nullptr;
    cuDeviceGetDefaultMemPool(&standard, 0);
    for (auto const& [name, of] : {std::pair{"own pool", pool}, std::pair{"default pool", standard}}) {
        std::string const in = std::string(name) + ": ";
        ask_number((in + "release threshold").c_str(), read(of, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
        int value = 9;
        ask((in + "reuse follows events").c_str(),
            cuMemPoolGetAttribute(of, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &value));
        ask_number((in + "follows events").c_str(), value);
        cuMemPoolGetAttribute(of, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value);
        ask_number((in + "opportunistic").c_str(), value);
        cuMemPoolGetAttribute(of, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &value);
        ask_number((in + "internal dependencies").c_str(), value);
        ask_number((in + "reserved").c_str(), read(of, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
        ask_number((in + "used").c_str(), read(of, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    }
    cuuint64_t threshold = 12345;
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    ask_number("threshold set", read(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
    ASK(cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(15), &threshold));
    ASK(cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(15), &threshold));
    ASK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr));
}

void pool_properties() {
    start();
    CUmemoryPool pool = nullptr;
    CUmemPoolProps props = properties();
    ASK(cuMemPoolCreate(nullptr, &props));
    ASK(cuMemPoolCreate(&pool, nullptr));
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    ask("invalid type", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.location.id = 64;
    ask("no such device", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    ask("invalid location", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    ask("host", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ask("file descriptors", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    ask("handles of another system", cuMemPoolCreate(&pool, &props));
    props = properties();
    props.maxSize = 64 << 20;
    CUdeviceptr a = 0, b = 0;
    CUstream const stream = make_stream();
    ask("limited", cuMemPoolCreate(&pool, &props));
    ask("within the limit", cuMemAllocFromPoolAsync(&a, 32 << 20, pool, stream));
    ask("beyond the limit", cuMemAllocFromPoolAsync(&b, 48 << 20, pool, stream));
    props = properties();
    ASK(cuMemPoolDestroy(nullptr));
    ASK(cuMemPoolTrimTo(nullptr, 0));
}

void pool_access() {
    start();
    CUmemoryPool const pool = make_pool();
    CUmemAccess_flags flags{};
    CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    CUmemAccessDesc access{here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASK(cuMemPoolGetAccess(&flags, pool, &here));
    ask_number("access of its own device", flags);
    ASK(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    ask("read only", cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ask("none", cuMemPoolSetAccess(pool, &access, 1));
    access = {{CU_MEM_LOCATION_TYPE_DEVICE, {64}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ask("no such device", cuMemPoolSetAccess(pool, &access, 1));
}

void allocation_arguments() {
    start();
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    ASK(cuMemAllocAsync(nullptr, 64, stream));
    memory = 7;
    ASK(cuMemAllocAsync(&memory, 0, stream));
    ask("address of nothing is null", memory == 0);
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuMemAllocAsync(&memory, std::size_t{1} << 50, stream));
    ASK(cuMemAllocFromPoolAsync(&memory, std::size_t{1} << 50, pool, stream));
    ASK(cuMemAllocFromPoolAsync(&memory, 64, nullptr, stream));
    ASK(cuMemAllocFromPoolAsync(nullptr, 64, pool, stream));
    ask_reserved("reserved after failures", pool);
}

// A pool's memory after a free and a way of observing it.
template <class Observe>
void reserved_after(char const* how, cuuint64_t threshold, Observe observe) {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps const props = properties();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    cuMemPoolCreate(&pool, &props);
    cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    cuMemAllocFromPoolAsync(&memory, size, pool, stream);
    cuMemFreeAsync(memory, stream);
    observe(stream);
    ask_reserved((std::string("reserved after ") + how).c_str(), pool);
}

void release_threshold() {
    start();
    CUevent event = nullptr;
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    reserved_after("nothing", 0, [](CUstream) {});
    reserved_after("a pause", 0, [](CUstream) { settle(50); });
    reserved_after("cuStreamSynchronize", 0, [](CUstream stream) { cuStreamSynchronize(stream); });
    reserved_after("cuCtxSynchronize", 0, [](CUstream) { cuCtxSynchronize(); });
    reserved_after("cuEventSynchronize", 0, [&](CUstream stream) {
        cuEventRecord(event, stream);
        cuEventSynchronize(event);
    });
    reserved_after("cuStreamQuery", 0, [](CUstream stream) {
        settle(50);
        cuStreamQuery(stream);
    });
    reserved_after("cuEventQuery", 0, [&](CUstream stream) {
        cuEventRecord(event, stream);
        settle(50);
        cuEventQuery(event);
    });
    reserved_after("cuStreamSynchronize of another stream", 0, [](CUstream) {
        settle(50);
        cuStreamSynchronize(make_stream());
    });
    reserved_after("cuStreamSynchronize of legacy", 0, [](CUstream) {
        settle(50);
        cuStreamSynchronize(CU_STREAM_LEGACY);
    });
    reserved_after("cuStreamDestroy", 0, [](CUstream stream) {
        settle(50);
        cuStreamDestroy(stream);
    });
    reserved_after("cuMemFree of nothing", 0, [](CUstream) {
        settle(50);
        cuMemFree(0);
    });
    reserved_after("cuStreamSynchronize below the threshold", UINT64_MAX,
                   [](CUstream stream) { cuStreamSynchronize(stream); });
    reserved_after("cuStreamSynchronize above the threshold", 4096,
                   [](CUstream stream) { cuStreamSynchronize(stream); });
}

void trim() {
    start();
    cuuint64_t all = UINT64_MAX;
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream();
    CUdeviceptr kept = 0, freed = 0;
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    ASK(cuMemAllocFromPoolAsync(&kept, size, pool, stream));
    ASK(cuMemAllocFromPoolAsync(&freed, 32 << 20, pool, stream));
    ASK(cuMemFreeAsync(freed, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("used", read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ask_number("used at most", read(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
    ask_number("reserved", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    ASK(cuMemPoolTrimTo(pool, std::size_t{1} << 40));
    ask_number("reserved after a trim to much", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_number("reserved after a trim to nothing", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    ask_number("reserved at most", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
    ASK(cuMemFreeAsync(kept, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("used after the last free", read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_number("reserved at last", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
}

void trim_with_free_due() {
    start();
    cuuint64_t all = UINT64_MAX;
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    ASK(cuMemAllocFromPoolAsync(&memory, size, pool, stream));
    ASK(cuStreamSynchronize(stream));
    gate shut(stream);
    ASK(cuMemFreeAsync(memory, stream));
    ask_number("used with the free due", read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_reserved("trim leaves memory whose free is due", pool);
    shut.open();
    settle(50);
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_reserved("trim leaves memory whose free nobody has seen", pool);
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_reserved("trim leaves memory whose free was seen", pool);
}

void pool_destroyed_in_use() {
    start();
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0, more = 0;
    unsigned char bytes[4] = {};
    ASK(cuMemAllocFromPoolAsync(&memory, size, pool, stream));
    ASK(cuMemPoolDestroy(pool));
    ASK(cuMemsetD8Async(memory, 7, 64, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemcpyDtoH(bytes, memory, 4));
    ask_number("what memory of the destroyed pool holds", bytes[0]);
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuStreamSynchronize(stream));
    (void)more;
}

void destroyed_pool_used() {
    start();
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    ASK(cuMemPoolDestroy(pool));
    ASK(cuMemAllocFromPoolAsync(&memory, size, pool, stream));
}

void destroyed_pool_destroyed() {
    start();
    CUmemoryPool const pool = make_pool();
    ASK(cuMemPoolDestroy(pool));
    ASK(cuMemPoolDestroy(pool));
}

void free_on_another_stream() {
    start();
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream(), other = make_stream();
    CUdeviceptr memory = 0, again = 0;
    ASK(cuMemAllocFromPoolAsync(&memory, size, pool, stream));
    ASK(cuMemFreeAsync(memory, other));
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuMemAllocFromPoolAsync(&again, size, pool, other));
    ask("the freeing stream gets the same address", again == memory);
    ASK(cuMemFreeAsync(again, other));
    ASK(cuCtxSynchronize());
}

void reuse_between_streams() {
    start();
    cuuint64_t all = UINT64_MAX;
    CUmemoryPool const pool = make_pool();
    CUstream const stream = make_stream(), other = make_stream();
    CUevent event = nullptr;
    CUdeviceptr memory = 0, beside = 0, after = 0;
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    ASK(cuMemAllocFromPoolAsync(&memory, size, pool, stream));
    ASK(cuStreamSynchronize(stream));
    gate shut(stream);
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuEventRecord(event, stream));
    ASK(cuStreamWaitEvent(other, event, 0));
    ASK(cuMemAllocFromPoolAsync(&after, size, pool, other));
    ask("a stream that waits for the free gets the address", after == memory);
    shut.open();
    ASK(cuCtxSynchronize());
    (void)beside;
}

void graph_memory_beside_pool() {
    start();
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUmemoryPool standard = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    CUstream const stream = make_stream();
    cuuint64_t used = 0, reserved = 0, zero = 0;
    params.poolProps = properties();
    params.bytesize = size;
    ASK(cuDeviceGetDefaultMemPool(&standard, 0));
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    ASK(cuGraphInstantiate(&exec, graph, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("default pool used", read(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ask_number("default pool reserved", read(standard, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    ASK(cuMemPoolTrimTo(standard, 0));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ask_number("graph memory used", static_cast<long long>(used));
    CUmemoryPool of = nullptr;
    ASK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, params.dptr));
    ask("graph memory names no pool", of == nullptr);
    ask("graph memory names the default pool", of == standard);
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuMemFreeAsync(params.dptr, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphExecDestroy(exec));
    ASK(cuGraphDestroy(graph));
    ASK(cuStreamSynchronize(stream));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ask("in use after the executable graph is gone", used > 0);
    ASK(cuMemFree(params.dptr));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ask("in use after the free", used > 0);
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    ask("reserved after the free", reserved > 0);
    ASK(cuDeviceGraphMemTrim(0));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    ask_number("reserved after the trim", static_cast<long long>(reserved));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    ask("used at most", used >= size);
    ASK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    ask_number("used at most after the reset", static_cast<long long>(used));
}

// An executable graph that allocates 4 MiB and frees nothing.
struct allocating {
    CUdeviceptr address = 0;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;

    explicit allocating(unsigned long long flags) {
        CUDA_MEM_ALLOC_NODE_PARAMS params{};
        CUgraphNode node = nullptr;
        params.poolProps = properties();
        params.bytesize = size;
        cuGraphCreate(&graph, 0);
        cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params);
        address = params.dptr;
        ask("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, flags));
    }
};

void auto_free() {
    start();
    CUstream const stream = make_stream();
    allocating const what(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    cuuint64_t used = 0;
    ASK(cuGraphLaunch(what.exec, stream));
    ASK(cuGraphLaunch(what.exec, stream));
    ASK(cuMemFreeAsync(what.address, stream));
    ASK(cuGraphLaunch(what.exec, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecDestroy(what.exec));
    ASK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ask("in use after destruction", used > 0);
    ASK(cuMemFreeAsync(what.address, stream));
    ASK(cuMemFreeAsync(what.address, stream));
}

void second_exec_of_allocating_graph() {
    start();
    CUstream const stream = make_stream();
    allocating const what(0);
    CUgraphExec second = nullptr;
    CUgraph clone = nullptr;
    ASK(cuGraphInstantiate(&second, what.graph, 0));
    ASK(cuGraphExecDestroy(what.exec));
    ASK(cuGraphInstantiate(&second, what.graph, 0));
    ASK(cuGraphClone(&clone, what.graph));
    ASK(cuGraphLaunch(second, stream));
    ASK(cuStreamSynchronize(stream));
}

void graph_memory_freed_by_another_graph() {
    start();
    CUstream const stream = make_stream();
    allocating const what(0);
    CUgraph other = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    ASK(cuGraphCreate(&other, 0));
    ASK(cuGraphAddMemFreeNode(&node, other, nullptr, 0, what.address));
    ASK(cuGraphInstantiate(&exec, other, 0));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(what.exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(exec, stream));
    ASK(cuGraphLaunch(what.exec, stream));
    ASK(cuMemFree(what.address));
    ASK(cuStreamSynchronize(stream));
}

void freed_twice() {
    start();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    ASK(cuMemAllocAsync(&memory, 4096, stream));
    ASK(cuMemFree(memory));
    ASK(cuMemFree(memory));
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuMemAllocAsync(&memory, 4096, stream));
    ASK(cuMemFreeAsync(memory, stream));
    ASK(cuMemFree(memory));
    ASK(cuMemFreeAsync(0, stream));
    ASK(cuMemFreeAsync(0x1234, stream));
    ASK(cuMemFree(0x1234));
}

void freed_without_context() {
    CUcontext const context = start();
    CUstream const stream = make_stream();
    CUdeviceptr memory = 0;
    for (auto const& [name, token] : {std::pair{"legacy", CU_STREAM_LEGACY},
                                      std::pair{"per-thread", CU_STREAM_PER_THREAD}, std::pair{"zero", CUstream{}}}) {
        std::string const on = name;
        cuMemAllocAsync(&memory, 4096, stream);
        cuStreamSynchronize(stream);
        elsewhere([&] { ask(("no context: " + on).c_str(), cuMemFreeAsync(memory, token)); });
        elsewhere_in(context, [&] { ask(("then with the context: " + on).c_str(), cuMemFreeAsync(memory, token)); });
    }
    cuMemAllocAsync(&memory, 4096, stream);
    elsewhere([&] { ask("no context: created stream", cuMemFreeAsync(memory, stream)); });
    cuMemAllocAsync(&memory, 4096, stream);
    elsewhere([&] { ask("no context: cuMemFree", cuMemFree(memory)); });
    elsewhere([&] { ask("no context: cuMemAllocAsync on a created stream", cuMemAllocAsync(&memory, 4096, stream)); });
    elsewhere([&] { ask("no context: cuMemsetD8Async on a created stream", cuMemsetD8Async(memory, 1, 16, stream)); });
    elsewhere([&] { ask("no context: cuStreamSynchronize of a created stream", cuStreamSynchronize(stream)); });
    elsewhere([&] { ask("no context: cuStreamDestroy", cuStreamDestroy(stream)); });
}

}  // namespace

group const pool_groups[] = {{"pool_attributes", pool_attributes, alone},
                             {"pool_properties", pool_properties},
                             {"pool_access", pool_access},
                             {"allocation_arguments", allocation_arguments},
                             {"release_threshold", release_threshold},
                             {"trim", trim},
                             {"trim_with_free_due", trim_with_free_due},
                             {"pool_destroyed_in_use", pool_destroyed_in_use},
                             {"destroyed_pool_used", destroyed_pool_used, alone},
                             {"destroyed_pool_destroyed", destroyed_pool_destroyed, alone},
                             {"free_on_another_stream", free_on_another_stream},
                             {"reuse_between_streams", reuse_between_streams},
                             {"graph_memory_beside_pool", graph_memory_beside_pool, alone},
                             {"auto_free", auto_free, alone},
                             {"second_exec_of_allocating_graph", second_exec_of_allocating_graph, alone},
                             {"graph_memory_freed_by_another_graph", graph_memory_freed_by_another_graph, alone},
                             {"freed_twice", freed_twice},
                             {"freed_without_context", freed_without_context},
                             {nullptr, nullptr}};

}  // namespace lastref::conformance
