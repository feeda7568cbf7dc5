#include "tests/simdriver/core/work.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>

#include "tests/simdriver/core/arrays.h"
#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/modules.h"
#include "tests/simdriver/core/shared_event.h"

namespace lastref::simdriver {
namespace {

constexpr std::size_t alignment = 512;
constexpr std::uint64_t graph_chunk = 32 << 20;  // graph memory is taken and counted in chunks, as pools' is

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

// One side of a copy: where its rows lie.
struct side {
    unsigned char* base = nullptr;
    std::size_t pitch = 0, height = 0;
    std::shared_ptr<array> held;

    unsigned char* row(std::size_t y, std::size_t z) const { return base + (z * height + y) * pitch; }
};

side shift(side at, std::size_t x, std::size_t y, std::size_t z) {
    at.base = at.row(y, z) + x;
    return at;
}

side side_of(CUmemorytype type, void const* host, CUdeviceptr address, CUarray handle, std::size_t pitch,
             std::size_t height) {
    side at{nullptr, pitch, height, nullptr};
    if (type == CU_MEMORYTYPE_HOST) {
        at.base = static_cast<unsigned char*>(const_cast<void*>(host));
    } else if (type == CU_MEMORYTYPE_ARRAY) {
        at.held = arrays().find(handle);
        if (!at.held) return at;
        at.base = at.held->bytes.data();
        at.pitch = at.held->row_bytes;
        at.height = at.held->rows;
    } else {
        at.base = reinterpret_cast<unsigned char*>(address);
    }
    return at;
}

side source(CUDA_MEMCPY3D const& copy) {
    return shift(
        side_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight),
        copy.srcXInBytes, copy.srcY, copy.srcZ);
}

side target(CUDA_MEMCPY3D const& copy) {
    return shift(
        side_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight),
        copy.dstXInBytes, copy.dstY, copy.dstZ);
}

std::size_t at_least_one(std::size_t value) {
    return std::max<std::size_t>(value, 1);
}

void copy_rows(CUDA_MEMCPY3D const& copy, side const& to, side const& from) {
    for (std::size_t z = 0; z < at_least_one(copy.Depth); ++z)
        for (std::size_t y = 0; y < at_least_one(copy.Height); ++y)
            std::memmove(to.row(y, z), from.row(y, z), copy.WidthInBytes);
}

void set_rows(CUDA_MEMSET_NODE_PARAMS const& set) {
    for (std::size_t y = 0; y < at_least_one(set.height); ++y) {
        auto* const row = reinterpret_cast<unsigned char*>(set.dst) + y * set.pitch;
        for (std::size_t x = 0; x < set.width; ++x) std::memcpy(row + x * set.elementSize, &set.value, set.elementSize);
    }
}

template <class Value>
bool satisfied(Value now, Value wanted, unsigned flags) {
    switch (flags & 3) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return static_cast<std::make_signed_t<Value>>(now - wanted) >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return now == wanted;
        case CU_STREAM_WAIT_VALUE_AND:
            return (now & wanted) != 0;
        default:
            return (~(now | wanted)) != 0;
    }
}

template <class Value>
Value load(CUdeviceptr address) {
    return std::atomic_ref(*reinterpret_cast<Value*>(address)).load(std::memory_order_acquire);
}

template <class Value>
void store(CUdeviceptr address, Value value) {
    std::atomic_ref(*reinterpret_cast<Value*>(address)).store(value, std::memory_order_release);
}

bool ready(CUstreamBatchMemOpParams const& one) {
    if (one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32)
        return satisfied(load<cuuint32_t>(one.waitValue.address), one.waitValue.value, one.waitValue.flags);
    if (one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64)
        return satisfied(load<cuuint64_t>(one.waitValue.address), one.waitValue.value64, one.waitValue.flags);
    return true;
}

void write(CUstreamBatchMemOpParams const& one) {
    if (one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) store(one.writeValue.address, one.writeValue.value);
    if (one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) store(one.writeValue.address, one.writeValue.value64);
}

// Works through the batch in order; false while it has to wait at one of its operations.
bool work_through(std::vector<CUstreamBatchMemOpParams> const& batch, std::size_t& next) {
    for (; next < batch.size(); ++next) {
        if (!ready(batch[next])) return false;
        write(batch[next]);
    }
    return true;
}

prepared new_operation() {
    return {std::make_shared<operation>(), {}};
}

prepared prepare_copy(CUDA_MEMCPY3D const& copy) {
    prepared made = new_operation();
    made.work->body = [copy, to = target(copy), from = source(copy)] { copy_rows(copy, to, from); };
    return made;
}

prepared prepare_set(CUDA_MEMSET_NODE_PARAMS const& set) {
    prepared made = new_operation();
    made.work->body = [set] { set_rows(set); };
    return made;
}

prepared prepare_host(host_work const& what) {
    prepared made = new_operation();
    made.work->where = lane::callback;
    made.work->body = [what] { what.function(what.data); };
    return made;
}

prepared prepare_batch(batch_work const& what) {
    prepared made = new_operation();
    made.work->ready = [batch = what.operations, next = std::size_t{0}]() mutable { return work_through(batch, next); };
    return made;
}

prepared prepare_signal(signal_work const& what) {
    prepared made = new_operation();
    made.work->body = [what] {
        for (std::size_t index = 0; index < what.semaphores.size(); ++index) {
            auto& semaphore = *what.semaphores[index];
            if (semaphore.timeline)
                semaphore.value = what.params[index].params.fence.value;
            else
                ++semaphore.value;
        }
    };
    return made;
}

bool take(external_semaphore& from, std::uint64_t wanted) {
    if (from.timeline) return from.value >= wanted;
    std::uint64_t seen = from.value;
    while (seen && !from.value.compare_exchange_weak(seen, seen - 1)) {
    }
    return seen != 0;
}

prepared prepare_await(await_work const& what) {
    prepared made = new_operation();
    made.work->ready = [what, next = std::size_t{0}]() mutable {
        for (; next < what.semaphores.size(); ++next)
            if (!take(*what.semaphores[next], what.params[next].params.fence.value)) return false;
        return true;
    };
    return made;
}

prepared prepare_kernel(kernel_work const& what) {
    prepared made = new_operation();
    made.work->duration = driver().set.kernel;
    if (!is_faulty(what.params.func)) return made;
    // A fault shows a while after the launch: calls that follow at once are still taken.
    made.work->duration += std::chrono::milliseconds(20);
    made.work->body = [self = std::weak_ptr(made.work)] {
        if (auto const work = self.lock(); work && work->fault) *work->fault = CUDA_ERROR_LAUNCH_FAILED;
    };
    return made;
}

prepared prepare_record(event& what) {
    prepared made = new_operation();
    what.recorded = made.work;
    what.captured = false;
    what.captured_after.clear();
    if (auto const shared = what.shared)
        made.work->completed = [shared, record = shared->record()] { shared->complete_up_to(record); };
    return made;
}

// Another process may have recorded it, so that the only sign of its completion is the shared counter.
prepared prepare_wait(event const& what) {
    prepared made = new_operation();
    if (auto const shared = what.shared)
        made.work->ready = [shared, record = shared->newest()] { return shared->complete(record); };
    else
        made.also_after.push_back(what.recorded);
    return made;
}

std::map<std::uintptr_t, std::weak_ptr<graph_memory>>& graph_memories() {
    static auto* const map = new std::map<std::uintptr_t, std::weak_ptr<graph_memory>>;
    return *map;
}

// A host address that is no allocation of the driver's is pageable memory, which unified addressing accepts.
bool reaches(CUmemorytype type, CUdeviceptr address, std::size_t bytes) {
    if (type == CU_MEMORYTYPE_DEVICE) return memory().covers(address, bytes) || find_graph_memory(address);
    return address != 0;
}

CUresult check_side(CUmemorytype type, void const* host, CUdeviceptr address, CUarray handle, std::size_t bytes) {
    bool good = false;
    switch (type) {
        case CU_MEMORYTYPE_HOST:
            good = host != nullptr;
            break;
        case CU_MEMORYTYPE_ARRAY:
            good = arrays().find(handle) != nullptr;
            break;
        case CU_MEMORYTYPE_DEVICE:
        case CU_MEMORYTYPE_UNIFIED:
            good = reaches(type, address, bytes);
            break;
        default:
            break;
    }
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

graph_memory::~graph_memory() {
    graph_memories().erase(base);
    if (owner) arena_of(*owner).release(base);
}

CUgraphNodeType type_of(work const& what) {
    constexpr CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_EMPTY,
                                         CU_GRAPH_NODE_TYPE_KERNEL,
                                         CU_GRAPH_NODE_TYPE_MEMCPY,
                                         CU_GRAPH_NODE_TYPE_MEMSET,
                                         CU_GRAPH_NODE_TYPE_HOST,
                                         CU_GRAPH_NODE_TYPE_GRAPH,
                                         CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                         CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                         CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                         CU_GRAPH_NODE_TYPE_MEM_FREE,
                                         CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                         CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                         CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                                         CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    static_assert(std::size(types) == std::variant_size_v<work>);
    return types[what.index()];
}

prepared prepare(work const& what) {
    return std::visit(overloaded{
                          [](kernel_work const& each) { return prepare_kernel(each); },
                          [](copy_work const& each) { return prepare_copy(each.params); },
                          [](set_work const& each) { return prepare_set(each.params); },
                          [](host_work const& each) { return prepare_host(each); },
                          [](record_work const& each) { return prepare_record(*each.what); },
                          [](wait_work const& each) { return prepare_wait(*each.what); },
                          [](batch_work const& each) { return prepare_batch(each); },
                          [](signal_work const& each) { return prepare_signal(each); },
                          [](await_work const& each) { return prepare_await(each); },
                          [](auto const&) { return new_operation(); },
                      },
                      what);
}

handle_table<CUexternalSemaphore, external_semaphore>& semaphores() {
    static auto* const table = new handle_table<CUexternalSemaphore, external_semaphore>;
    return *table;
}

graph_memory_ptr find_graph_memory(std::uintptr_t base) {
    auto const found = graph_memories().find(base);
    return found == graph_memories().end() ? nullptr : found->second.lock();
}

graph_memory_ptr make_graph_memory(device& owner, std::size_t bytes) {
    auto made = std::make_shared<graph_memory>();
    made->size = bytes;
    made->reserved = round_up(bytes, alignment);
    made->base = arena_of(owner).allocate(made->reserved, alignment);
    if (!made->base) return nullptr;
    made->owner = &owner;
    graph_memories()[made->base] = made;
    return made;
}

bool back(graph_memory_ptr const& memory) {
    device& owner = *memory->owner;
    std::uint64_t const wanted = std::max(owner.graph_used, round_up(owner.graph_live + memory->reserved, graph_chunk));
    if (wanted > owner.graph_reserved && !take_bytes(owner, wanted - owner.graph_reserved)) return false;
    owner.graph_reserved = std::max(owner.graph_reserved, wanted);
    owner.graph_reserved_high = std::max(owner.graph_reserved_high, owner.graph_reserved);
    owner.graph_used = wanted;
    owner.graph_used_high = std::max(owner.graph_used_high, wanted);
    owner.graph_live += memory->reserved;
    auto made = std::make_shared<allocation>();
    made->base = memory->base;
    made->size = memory->size;
    made->reserved = memory->reserved;
    made->kind = memory_kind::graph;
    made->owner = &owner;
    made->keeps = memory;
    simdriver::memory().add(made);
    memory->live = true;
    return true;
}

void let_go(graph_memory_ptr const& memory, operation_ptr const& when) {
    memory->live = false;
    simdriver::memory().remove(memory->base);
    when->completed = [memory] { memory->owner->graph_live -= memory->reserved; };
}

std::uint64_t graph_bytes(device const& owner) {
    return round_up(owner.graph_live, graph_chunk);
}

bool replaceable(work const& old, work const& wanted) {
    if (auto const* a = std::get_if<set_work>(&old), *b = std::get_if<set_work>(&wanted); a && b)
        return a->ctx == b->ctx && (a->params.height > 1) == (b->params.height > 1);
    if (auto const* a = std::get_if<copy_work>(&old), *b = std::get_if<copy_work>(&wanted); a && b)
        return a->ctx == b->ctx && a->params.srcMemoryType == b->params.srcMemoryType &&
               a->params.dstMemoryType == b->params.dstMemoryType;
    return old.index() == wanted.index();
}

CUresult check(CUDA_MEMCPY3D const& copy) {
    CUresult const result =
        check_side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.WidthInBytes);
    if (result != CUDA_SUCCESS) return result;
    return check_side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.WidthInBytes);
}

CUresult check(CUDA_MEMSET_NODE_PARAMS const& set) {
    bool const shape = set.elementSize == 1 || set.elementSize == 2 || set.elementSize == 4;
    if (!shape || !set.width || set.dst % set.elementSize) return CUDA_ERROR_INVALID_VALUE;
    bool const reached = memory().covers(set.dst, set.width * set.elementSize) || find_graph_memory(set.dst);
    return reached ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_MEMCPY3D linear_copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}

}  // namespace lastref::simdriver
