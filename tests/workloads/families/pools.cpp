// Stream-ordered memory: pools, what they keep, and frees that are wrong.
#include "tests/workloads/common/facts.h"

namespace {

using namespace lastref::workload;

constexpr std::size_t block = 4 << 20;

CUmemoryPool make_pool() {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    MUST(cuMemPoolCreate(&pool, &props));
    return pool;
}

unsigned long long read(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    MUST(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

bool keeps_memory(CUmemoryPool pool) {
    return read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= block;
}

void accounting(CUstream stream) {
    CUdeviceptr memory = 0;
    CUmemoryPool const pool = make_pool();
    fact("release threshold", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)), 0);
    MUST(cuMemAllocFromPoolAsync(&memory, block, pool, stream));
    fact("used", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)), block);
    fact("keeps memory while allocated", keeps_memory(pool), 1);
    MUST(cuMemFreeAsync(memory, stream));
    MUST(cuStreamSynchronize(stream));
    fact("used after free", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)), 0);
    fact("keeps memory after synchronization, threshold 0", keeps_memory(pool), 0);
    MUST(cuMemPoolDestroy(pool));
}

void threshold_and_trim(CUstream stream) {
    CUdeviceptr memory = 0;
    cuuint64_t threshold = UINT64_MAX;
    CUmemoryPool const pool = make_pool();
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    MUST(cuMemAllocFromPoolAsync(&memory, block, pool, stream));
    {
        held_up_stream held(stream);
        MUST(cuMemFreeAsync(memory, stream));
        MUST(cuMemPoolTrimTo(pool, 0));
        fact("trim with the free pending: keeps memory", keeps_memory(pool), 1);
        held.let_go();
        MUST(cuStreamSynchronize(stream));
    }
    fact("keeps memory after synchronization, no threshold", keeps_memory(pool), 1);
    MUST(cuMemPoolTrimTo(pool, 0));
    fact("trim after synchronization: keeps memory", keeps_memory(pool), 0);
    MUST(cuMemPoolDestroy(pool));
}

void destroyed_in_use(CUstream stream) {
    CUdeviceptr memory = 0;
    CUmemoryPool const pool = make_pool();
    MUST(cuMemAllocFromPoolAsync(&memory, block, pool, stream));
    fact("pool destroyed with an allocation outstanding", cuMemPoolDestroy(pool), CUDA_SUCCESS);
    MUST(cuMemsetD8Async(memory, 1, block, stream));
    fact("free after its pool was destroyed", cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
    MUST(cuStreamSynchronize(stream));
}

void default_pool() {
    CUmemoryPool pool = nullptr, current = nullptr;
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    fact("destroy of the default pool", cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    MUST(cuDeviceGetMemPool(&current, 0));
    fact("default pool is current", current == pool, 1);
    CUmemoryPool const other = make_pool();
    MUST(cuDeviceSetMemPool(0, other));
    MUST(cuDeviceGetMemPool(&current, 0));
    fact("other pool is current", current == other, 1);
    MUST(cuMemPoolDestroy(other));
    MUST(cuDeviceGetMemPool(&current, 0));
    fact("default pool is current again", current == pool, 1);
}

void wrong_frees(CUstream stream) {
    CUdeviceptr memory = 0;
    MUST(cuMemAllocAsync(&memory, block, stream));
    fact("free inside a block", cuMemFreeAsync(memory + 512, stream), CUDA_ERROR_INVALID_VALUE);
    fact("free", cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
    fact("free again", cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
    MUST(cuMemAllocAsync(&memory, block, stream));
    fact("cuMemFree of a stream-ordered allocation", cuMemFree(memory), CUDA_SUCCESS);
    MUST(cuMemAllocAsync(&memory, block, stream));
    std::thread([memory, stream] {
        fact("no context: free on the legacy stream", cuMemFreeAsync(memory, CU_STREAM_LEGACY),
             CUDA_ERROR_INVALID_CONTEXT);
        fact("no context: free on the per-thread stream", cuMemFreeAsync(memory, CU_STREAM_PER_THREAD),
             CUDA_ERROR_INVALID_CONTEXT);
        fact("no context: free on stream 0", cuMemFreeAsync(memory, nullptr), CUDA_ERROR_INVALID_CONTEXT);
        fact("no context: free on a created stream", cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
    }).join();
    MUST(cuStreamSynchronize(stream));
}

}  // namespace

int main() {
    CUstream stream = nullptr;
    use_first_device();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    accounting(stream);
    threshold_and_trim(stream);
    destroyed_in_use(stream);
    default_pool();
    wrong_frees(stream);
    MUST(cuStreamDestroy(stream));
    return finish();
}
