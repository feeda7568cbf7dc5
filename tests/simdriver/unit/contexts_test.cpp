#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

using contexts = driver_test;

CUcontext current() {
    CUcontext context = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
}

TEST_F(contexts, are_current_per_thread) {
    on_thread([] { EXPECT_EQ(current(), nullptr); });
    EXPECT_EQ(current(), primary);
}

TEST_F(contexts, push_and_pop) {
    CUcontext made = nullptr, popped = nullptr;
    OK(cuCtxCreate(&made, nullptr, 0, 1));
    EXPECT_EQ(current(), made);
    OK(cuCtxPushCurrent(primary));
    EXPECT_EQ(current(), primary);
    OK(cuCtxPopCurrent(&popped));
    EXPECT_EQ(popped, primary);
    OK(cuCtxDestroy(made));
    EXPECT_EQ(current(), primary);
}

TEST_F(contexts, nothing_to_pop_or_use_without_one) {
    on_thread([] {
        CUcontext popped = nullptr;
        CUdevice device = 0;
        CUdeviceptr memory = 0;
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 64));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    });
}

TEST_F(contexts, primary_context_is_counted) {
    unsigned flags = 0;
    int active = 0;
    CUcontext again = nullptr;
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    EXPECT_EQ(again, primary);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_EQ(active, 1);
    CUcontext other = nullptr;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EXPECT_EQ(active, 0);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
}

// cuCtxDestroy frees ordinary allocations and streams, not stream-ordered memory; other threads keep the dead context.
TEST_F(contexts, destroyed_context_stays_current_elsewhere_and_says_709) {
    CUcontext made = nullptr;
    CUdeviceptr ordinary = 0, ordered = 0;
    CUstream inside = nullptr;
    OK(cuCtxCreate(&made, nullptr, 0, 0));
    OK(cuMemAlloc(&ordinary, 64));
    OK(cuStreamCreate(&inside, 0));
    OK(cuMemAllocAsync(&ordered, 64, inside));
    std::atomic<int> step{0};
    std::thread other([&] {
        EXPECT_EQ(cuCtxSetCurrent(made), CUDA_SUCCESS);
        step = 1;
        becomes(step, 2);
        CUdeviceptr memory = 0;
        EXPECT_EQ(current(), made);
        GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 64));
        GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAllocAsync(&memory, 64, CU_STREAM_LEGACY));
    });
    becomes(step, 1);
    OK(cuCtxDestroy(made));
    step = 2;
    other.join();
    OK(cuCtxSetCurrent(primary));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(ordinary));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(inside));
    GIVES(CUDA_SUCCESS, cuMemFreeAsync(ordered, stream));
}

TEST_F(contexts, reset_ends_the_primary_context) {
    CUdeviceptr memory = 0;
    CUcontext other = nullptr;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxSetCurrent(other));
    OK(cuMemAlloc(&memory, 64));
    OK(cuDevicePrimaryCtxReset(1));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemFree(memory));
    OK(cuCtxSetCurrent(nullptr));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "it went with its context";
    OK(cuDevicePrimaryCtxRelease(1)) << "the reference is still to be released";
}

TEST_F(contexts, ids_are_never_given_twice) {
    unsigned long long first = 0, second = 0;
    CUcontext made = nullptr;
    OK(cuCtxCreate(&made, nullptr, 0, 0));
    CUcontext const handle = made;
    OK(cuCtxGetId(made, &first));
    OK(cuCtxDestroy(made));
    OK(cuCtxCreate(&made, nullptr, 0, 0));
    OK(cuCtxGetId(made, &second));
    EXPECT_EQ(made, handle) << "handle values are recycled";
    EXPECT_NE(first, second);
    OK(cuCtxDestroy(made));
}

}  // namespace
}  // namespace lastref::simdriver::test
