// What a graph node, or an operation of a stream, does.
#pragma once

#include <atomic>
#include <memory>
#include <variant>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/memory.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

struct graph;
using graph_ptr = std::shared_ptr<graph>;

// The memory of an allocation node: its address is fixed when the node is made, it is backed from a launch to its free.
struct graph_memory {
    device* owner = nullptr;
    std::uintptr_t base = 0;
    std::size_t size = 0, reserved = 0;
    bool live = false;
    bool freed_at_home = false;  // by a node of the graph that allocates it: then no other graph may

    graph_memory() = default;
    graph_memory(graph_memory const&) = delete;
    graph_memory& operator=(graph_memory const&) = delete;
    ~graph_memory();
};
using graph_memory_ptr = std::shared_ptr<graph_memory>;

// The value behind a CUgraphConditionalHandle. No simulated kernel can set it: a loop ends after its first round.
struct conditional_value {
    CUgraphConditionalHandle handle = 0;
    unsigned initial = 0, current = 0;
    bool assigned_at_launch = false;
    bool used = false;  // by a node: a handle is for one node
};

struct empty_work {};
struct kernel_work {
    CUDA_KERNEL_NODE_PARAMS params{};
};
struct copy_work {
    CUDA_MEMCPY3D params{};
    CUcontext ctx = nullptr;
};
struct set_work {
    CUDA_MEMSET_NODE_PARAMS params{};
    CUcontext ctx = nullptr;
};
struct host_work {
    CUhostFn function = nullptr;
    void* data = nullptr;
};
struct child_work {
    graph_ptr child;
};
struct record_work {
    event_ptr what;
};
struct wait_work {
    event_ptr what;
};
struct alloc_work {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    graph_memory_ptr memory;
};
struct free_work {
    CUdeviceptr address = 0;
    graph_memory_ptr memory;
};
struct batch_work {
    CUcontext ctx = nullptr;
    std::vector<CUstreamBatchMemOpParams> operations;
    unsigned flags = 0;
};
// A semaphore of another driver, of which this process sees the value only.
struct external_semaphore {
    CUexternalSemaphore handle = nullptr;
    bool timeline = false;  // a value that grows; otherwise a count that a wait takes one from
    std::atomic<std::uint64_t> value{0};
};
using semaphore_ptr = std::shared_ptr<external_semaphore>;

struct signal_work {
    std::vector<semaphore_ptr> semaphores;
    std::vector<CUexternalSemaphore> handles;
    std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> params;
};
struct await_work {
    std::vector<semaphore_ptr> semaphores;
    std::vector<CUexternalSemaphore> handles;
    std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> params;
};
struct conditional_work {
    CUDA_CONDITIONAL_NODE_PARAMS params{};
    std::shared_ptr<conditional_value> value;
    std::vector<graph_ptr> bodies;
    std::vector<CUgraph> handles;  // params.phGraph_out points here
};

using work = std::variant<empty_work, kernel_work, copy_work, set_work, host_work, child_work, record_work, wait_work,
                          alloc_work, free_work, batch_work, conditional_work, signal_work, await_work>;

CUgraphNodeType type_of(work const& what);

// The operation for one kind of work, not yet submitted, and what beyond the stream's order it has to wait for.
struct prepared {
    operation_ptr work;
    std::vector<operation_ptr> also_after;
};
prepared prepare(work const& what);

handle_table<CUexternalSemaphore, external_semaphore>& semaphores();

// Graph memory: found by address whether backed or not; backs it, and lets it go in the order of an operation.
graph_memory_ptr find_graph_memory(std::uintptr_t base);
// Whether a node of the graph frees it already: a graph frees an allocation at most once.
bool freed_in(graph const& of, graph_memory const& memory);
// Whether the graph may get a node that frees the memory; it has one from now on.
bool take_free(graph const& into, graph_memory& memory);
graph_memory_ptr make_graph_memory(device& owner, std::size_t bytes);
bool back(graph_memory_ptr const& memory);
void let_go(graph_memory_ptr const& memory, operation_ptr const& when);
// What the live graph memory of a device takes up.
std::uint64_t graph_bytes(device const& owner);
// Whether an executable graph's node may take on the other work: kinds of memory, dimensions and contexts must stay.
bool replaceable(work const& old, work const& wanted);

// Checks the addresses and sizes of a copy or a memset.
CUresult check(CUDA_MEMCPY3D const& copy);
CUresult check(CUDA_MEMSET_NODE_PARAMS const& set);
// One row from address to address, as unified memory.
CUDA_MEMCPY3D linear_copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);

}  // namespace lastref::simdriver
