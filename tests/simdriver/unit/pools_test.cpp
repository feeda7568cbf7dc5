#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

constexpr std::size_t block = 1 << 20;

class pools : public driver_test {
  protected:
    void SetUp() override {
        driver_test::SetUp();
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        OK(cuMemPoolCreate(&pool, &props));
    }
    CUdeviceptr allocate(CUstream on) {
        CUdeviceptr made = 0;
        EXPECT_EQ(cuMemAllocFromPoolAsync(&made, block, pool, on), CUDA_SUCCESS);
        return made;
    }
    unsigned long long read(CUmemPool_attribute which) {
        cuuint64_t value = 0;
        EXPECT_EQ(cuMemPoolGetAttribute(pool, which, &value), CUDA_SUCCESS);
        return value;
    }
    unsigned long long reserved() { return read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); }
    void keep_everything() {
        cuuint64_t all = UINT64_MAX;
        EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all), CUDA_SUCCESS);
    }
    CUmemoryPool pool = nullptr;
};

TEST_F(pools, count_what_is_used_and_reserved) {
    CUdeviceptr const a = allocate(stream), b = allocate(stream);
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 2 * block);
    EXPECT_GE(reserved(), 2 * block);
    OK(cuMemFreeAsync(a, stream));
    OK(cuMemFreeAsync(b, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 2 * block);
    EXPECT_EQ(reserved(), 0u) << "threshold 0, applied at the synchronization";
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, memory_counts_as_unused_from_the_free_on_and_stays_reserved_until_its_stream_gets_there) {
    CUdeviceptr const a = allocate(stream);
    gate held(stream);
    OK(cuMemFreeAsync(a, stream));
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
    OK(cuMemPoolTrimTo(pool, 0));
    EXPECT_GE(reserved(), block);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(a, stream)) << "the pointer is gone at once";
    held.open();
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(reserved(), 0u);
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, threshold_keeps_and_trim_gives_back_only_what_was_seen_freed) {
    keep_everything();
    CUdeviceptr const a = allocate(stream);
    gate held(stream);
    OK(cuMemFreeAsync(a, stream));
    OK(cuMemPoolTrimTo(pool, 0));
    EXPECT_GT(reserved(), 0u) << "the free is pending";
    held.open();
    OK(cuStreamSynchronize(stream));
    EXPECT_GT(reserved(), 0u) << "below the threshold";
    OK(cuMemPoolTrimTo(pool, 0));
    EXPECT_EQ(reserved(), 0u);
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, memory_is_reused_in_stream_order) {
    CUstream other = nullptr;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    keep_everything();
    CUdeviceptr const a = allocate(stream);
    gate held(stream);
    OK(cuMemFreeAsync(a, stream));
    CUdeviceptr const elsewhere = allocate(other), here = allocate(stream);
    EXPECT_NE(elsewhere, a) << "another stream must wait until the free has happened";
    EXPECT_EQ(here, a);
    held.open();
    OK(cuMemFreeAsync(here, stream));
    OK(cuMemFreeAsync(elsewhere, other));
    OK(cuStreamDestroy(other));
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, destroyed_in_use_lives_on) {
    CUdeviceptr const a = allocate(stream);
    std::size_t free = 0, total = 0;
    OK(cuMemPoolDestroy(pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    OK(cuMemGetInfo(&free, &total));
    EXPECT_LT(free, total);
    GIVES(CUDA_SUCCESS, cuMemsetD8Async(a, 1, block, stream));
    GIVES(CUDA_SUCCESS, cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total);
}

TEST_F(pools, free_without_context_needs_a_created_stream) {
    CUdeviceptr const a = allocate(stream);
    CUstream const created = stream;
    on_thread([=] {
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemFreeAsync(a, nullptr));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemFreeAsync(a, CU_STREAM_LEGACY));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemFreeAsync(a, CU_STREAM_PER_THREAD));
        GIVES(CUDA_SUCCESS, cuMemFreeAsync(a, created));
    });
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, default_pool_stays_and_becomes_current_again) {
    CUmemoryPool standard = nullptr, current = nullptr;
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
    OK(cuDeviceSetMemPool(0, pool));
    CUdeviceptr a = 0;
    OK(cuMemAllocAsync(&a, block, stream));
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), block);
    OK(cuMemFreeAsync(a, stream));
    OK(cuMemPoolDestroy(pool));
    OK(cuDeviceGetMemPool(&current, 0));
    EXPECT_EQ(current, standard);
}

TEST_F(pools, plain_free_takes_stream_ordered_memory) {
    CUdeviceptr const a = allocate(stream);
    GIVES(CUDA_SUCCESS, cuMemFree(a));
    EXPECT_EQ(read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
    OK(cuMemPoolDestroy(pool));
}

TEST_F(pools, stream_ordered_free_takes_plain_memory_and_waits) {
    CUdeviceptr plain = 0;
    OK(cuMemAlloc(&plain, 64));
    std::atomic<int> freed{0};
    std::thread other;
    {
        gate held(stream);
        other = std::thread([&] {
            EXPECT_EQ(cuMemFreeAsync(plain, stream), CUDA_SUCCESS);
            freed = 1;
        });
        give_it_time();
        EXPECT_EQ(freed, 0);
    }
    other.join();
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(plain));
    OK(cuMemPoolDestroy(pool));
}

}  // namespace
}  // namespace lastref::simdriver::test
