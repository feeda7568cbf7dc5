// What the unit tests of the simulated driver share: a current context, and waiting for what happens on other threads.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/simdriver/control.h"

namespace lastref::simdriver::test {

#define OK(call) ASSERT_EQ(call, CUDA_SUCCESS)
#define GIVES(result, call) EXPECT_EQ(call, result)

class driver_test : public ::testing::Test {
  protected:
    void SetUp() override {
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&primary, 0));
        OK(cuCtxSetCurrent(primary));
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }

    void TearDown() override {
        lastref_simdriver_set("LASTREF_SIM_FAIL", nullptr);
        lastref_simdriver_set("LASTREF_SIM_CALLBACK_US", nullptr);
        lastref_simdriver_set("LASTREF_SIM_KERNEL_US", nullptr);
        OK(cuStreamDestroy(stream));
        OK(cuCtxSetCurrent(primary));
        OK(cuCtxSynchronize());
        OK(cuCtxSetCurrent(nullptr));
        OK(cuDevicePrimaryCtxRelease(0));
    }

    CUcontext primary = nullptr;
    CUstream stream = nullptr;
};

// Runs the work on a thread of its own, where no context is current.
template <class Work>
void on_thread(Work work) {
    std::thread(work).join();
}

inline bool becomes(std::atomic<int> const& counter, int value) {
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (counter != value && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    return counter == value;
}

// Long enough for what must not happen to have happened.
inline void give_it_time() {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// Work of a stream that goes on until it is told to end.
class gate {
  public:
    explicit gate(CUstream on) {
        EXPECT_EQ(cuStreamWaitValue32(on, address(), 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
        EXPECT_EQ(cuEventCreate(&passed_, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(passed_, on), CUDA_SUCCESS);
    }
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    // The word must not go before the stream has read it.
    ~gate() {
        open();
        EXPECT_EQ(cuEventSynchronize(passed_), CUDA_SUCCESS);
        EXPECT_EQ(cuEventDestroy(passed_), CUDA_SUCCESS);
    }
    void open() { word_ = 1; }

  private:
    CUdeviceptr address() { return reinterpret_cast<CUdeviceptr>(&word_); }
    std::atomic<unsigned> word_{0};
    CUevent passed_ = nullptr;
};

inline void count(void* counter) {
    ++*static_cast<std::atomic<int>*>(counter);
}

inline CUuserObject make_user_object(std::atomic<int>& destroyed, unsigned references = 1) {
    CUuserObject object = nullptr;
    EXPECT_EQ(cuUserObjectCreate(&object, &destroyed, count, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    return object;
}

inline CUgraph make_graph() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    return graph;
}

inline CUgraphNode add_empty(CUgraph graph, std::initializer_list<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, after.size() ? after.begin() : nullptr, after.size()), CUDA_SUCCESS);
    return node;
}

inline CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, flags), CUDA_SUCCESS);
    return exec;
}

}  // namespace lastref::simdriver::test
