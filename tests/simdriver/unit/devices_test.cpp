// Two devices in one process, and settings of the scheduler.
#include <set>
#include <string>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

class two_devices : public driver_test {
  protected:
    void SetUp() override {
        driver_test::SetUp();
        OK(cuDevicePrimaryCtxRetain(&second, 1));
    }
    void TearDown() override {
        OK(cuDevicePrimaryCtxRelease(1));
        driver_test::TearDown();
    }
    static CUdeviceptr allocate(std::size_t bytes) {
        CUdeviceptr memory = 0;
        EXPECT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
        return memory;
    }
    static std::size_t free_bytes() {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
        return free;
    }
    CUcontext second = nullptr;
};

TEST_F(two_devices, have_memory_of_their_own) {
    std::size_t const before = free_bytes();
    OK(cuCtxSetCurrent(second));
    std::size_t const before_there = free_bytes();
    CUdeviceptr const there = allocate(1 << 20);
    EXPECT_EQ(free_bytes(), before_there - (1 << 20));
    int ordinal = 9;
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
    EXPECT_EQ(ordinal, 1);
    OK(cuCtxSetCurrent(primary));
    EXPECT_EQ(free_bytes(), before);
    OK(cuMemFree(there)) << "whatever is current";
}

TEST_F(two_devices, copy_between_each_other) {
    unsigned char value = 0;
    CUdeviceptr const here = allocate(64);
    OK(cuMemsetD8(here, 7, 64));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(second));
    CUdeviceptr const there = allocate(64);
    OK(cuMemcpyPeer(there, second, here, primary, 64));
    OK(cuMemcpyDtoH(&value, there + 63, 1));
    EXPECT_EQ(value, 7);
    OK(cuMemFree(there));
    OK(cuMemFree(here));
}

TEST_F(two_devices, grant_access_once) {
    int can = 0;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    OK(cuCtxEnablePeerAccess(second, 0));
    GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
    GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(second));
}

TEST_F(two_devices, streams_and_events_belong_to_one) {
    CUstream there = nullptr;
    CUevent event = nullptr;
    CUcontext of = nullptr;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxSetCurrent(second));
    OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSetCurrent(primary));
    OK(cuStreamGetCtx(there, &of));
    EXPECT_EQ(of, second);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, there));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(there, event, 0)) << "waiting across devices is allowed";
    OK(cuStreamSynchronize(there));
    OK(cuStreamDestroy(there));
    OK(cuEventDestroy(event));
}

TEST_F(two_devices, pools_stay_on_theirs) {
    CUmemoryPool here = nullptr, there = nullptr;
    CUdeviceptr memory = 0;
    cuuint64_t used = 0;
    OK(cuDeviceGetDefaultMemPool(&here, 0));
    OK(cuDeviceGetDefaultMemPool(&there, 1));
    EXPECT_NE(here, there);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, there));
    OK(cuMemAllocFromPoolAsync(&memory, 512, there, stream)) << "on another device's stream";
    OK(cuMemPoolGetAttribute(there, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT_EQ(used, 512u);
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
}

std::string order;

class scheduling : public driver_test {
  protected:
    void TearDown() override {
        lastref_simdriver_set("LASTREF_SIM_SEED", nullptr);
        driver_test::TearDown();
    }
    // Two functions on two streams that become ready at once.
    void let_two_run() {
        CUstream streams[2] = {};
        CUevent event = nullptr;
        order.clear();
        OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        for (auto& each : streams) OK(cuStreamCreate(&each, CU_STREAM_NON_BLOCKING));
        {
            gate held(stream);
            OK(cuEventRecord(event, stream));
            for (auto const each : streams) OK(cuStreamWaitEvent(each, event, 0));
            OK(cuLaunchHostFunc(
                streams[0], [](void*) { order += 'a'; }, nullptr));
            OK(cuLaunchHostFunc(
                streams[1], [](void*) { order += 'b'; }, nullptr));
        }
        for (auto const each : streams) {
            OK(cuStreamSynchronize(each));
            OK(cuStreamDestroy(each));
        }
        OK(cuEventDestroy(event));
    }
};

TEST_F(scheduling, a_seed_shuffles_what_is_ready_at_once) {
    ASSERT_EQ(lastref_simdriver_set("LASTREF_SIM_SEED", "7"), 0);
    std::set<std::string> seen;
    for (int tries = 0; tries < 300 && seen.size() < 2; ++tries) {
        let_two_run();
        seen.insert(order);
    }
    EXPECT_EQ(seen, (std::set<std::string>{"ab", "ba"}));
}

std::atomic<int> functions_run{0}, callback_status{-1};

// Exits with the number of the first thing that is not as it should be. In a process of its own: a fault stays.
int fault_of_a_kernel() {
    constexpr char text[] =
        ".version 8.0\n.target sm_75\n.visible .entry fault() { trap; }\n.visible .entry fine() { ret; }\n";
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction fault = nullptr, fine = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuModuleLoadData(&module, text);
    cuModuleGetFunction(&fault, module, "fault");
    cuModuleGetFunction(&fine, module, "fine");
    if (cuLaunchKernel(fine, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) || cuStreamSynchronize(stream)) return 1;
    if (cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr)) return 2;
    cuLaunchHostFunc(
        stream, [](void*) { ++functions_run; }, nullptr);
    cuStreamAddCallback(
        stream, [](CUstream, CUresult status, void*) { callback_status = status; }, nullptr, 0);
    if (cuStreamSynchronize(stream) != CUDA_ERROR_LAUNCH_FAILED) return 3;
    if (functions_run != 0) return 4;
    if (!becomes(callback_status, CUDA_ERROR_LAUNCH_FAILED)) return 5;
    if (cuMemAlloc(&memory, 64) != CUDA_ERROR_LAUNCH_FAILED) return 6;
    if (cuDevicePrimaryCtxReset(0) != CUDA_SUCCESS) return 7;
    if (cuDevicePrimaryCtxRetain(&context, 0) != CUDA_ERROR_LAUNCH_FAILED) return 8;
    return cuDevicePrimaryCtxRetain(&context, 1) == CUDA_SUCCESS ? 0 : 9;  // the other device is unharmed
}

TEST(faults, end_their_context_for_good) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(_exit(fault_of_a_kernel()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lastref::simdriver::test
