// A GoogleTest suite of which some tests leave something behind, each marked as a range.
#include <cuda.h>
#include <gtest/gtest.h>

#include <thread>

#include "lastref/googletest.h"

namespace {

bool const marked = lastref::mark_tests_as_ranges();

class memory : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    }

    CUcontext context = nullptr;
};

__attribute__((noinline)) CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cuMemAlloc(&made, bytes), CUDA_SUCCESS);
    return made;
}

TEST_F(memory, is_freed) {
    EXPECT_EQ(cuMemFree(allocate(100)), CUDA_SUCCESS);
}

TEST_F(memory, is_left) {
    EXPECT_NE(allocate(200), 0u);
}

// The next test frees it: the test that made it leaves nothing in the end.
CUdeviceptr handed_on = 0;
TEST_F(memory, is_handed_on) {
    handed_on = allocate(300);
}
TEST_F(memory, is_taken_over) {
    EXPECT_EQ(cuMemFree(handed_on), CUDA_SUCCESS);
}

TEST_F(memory, is_left_by_a_thread) {
    std::thread([this] {
        cuCtxSetCurrent(context);
        EXPECT_NE(allocate(400), 0u);
    }).join();
}

class memory_of_size : public memory, public ::testing::WithParamInterface<int> {};
TEST_P(memory_of_size, is_left_if_odd) {
    auto const made = allocate(static_cast<std::size_t>(GetParam()));
    if (GetParam() % 2 != 0) return;
    EXPECT_EQ(cuMemFree(made), CUDA_SUCCESS);
}
INSTANTIATE_TEST_SUITE_P(sizes, memory_of_size, ::testing::Values(1000, 1001));

TEST(nothing, is_called) {}

}  // namespace
