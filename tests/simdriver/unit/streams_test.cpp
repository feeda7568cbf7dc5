#include <vector>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

// Which of two streams' host functions ran first. All run on one thread, so that the list needs no lock.
struct order {
    std::vector<int> list;
};

struct step {
    order* into;
    int number;
};

void note(void* data) {
    auto const* const one = static_cast<step*>(data);
    one->into->list.push_back(one->number);
}

class streams : public driver_test {
  protected:
    void SetUp() override {
        driver_test::SetUp();
        OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
        OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    }
    void TearDown() override {
        OK(cuStreamDestroy(blocking));
        OK(cuStreamDestroy(other));
        driver_test::TearDown();
    }
    CUstream blocking = nullptr, other = nullptr;
};

TEST_F(streams, run_asynchronously_and_in_order) {
    order seen;
    step first{&seen, 1}, second{&seen, 2};
    gate held(stream);
    OK(cuLaunchHostFunc(stream, note, &first));
    OK(cuLaunchHostFunc(stream, note, &second));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    held.open();
    OK(cuStreamSynchronize(stream));
    GIVES(CUDA_SUCCESS, cuStreamQuery(stream));
    EXPECT_EQ(seen.list, (std::vector{1, 2}));
}

TEST_F(streams, do_not_wait_for_each_other) {
    std::atomic<int> ran{0};
    gate held(blocking);
    OK(cuLaunchHostFunc(other, count, &ran));
    OK(cuStreamSynchronize(other));
    EXPECT_EQ(ran, 1);
    held.open();
}

TEST_F(streams, legacy_stream_waits_for_blocking_streams_and_they_for_it) {
    std::atomic<int> on_legacy{0}, after_legacy{0};
    gate held(blocking);
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, count, &on_legacy));
    OK(cuLaunchHostFunc(other, count, &after_legacy));
    give_it_time();
    EXPECT_EQ(on_legacy, 0);
    EXPECT_EQ(after_legacy, 0);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_LEGACY));
    held.open();
    OK(cuStreamSynchronize(other));
    EXPECT_EQ(on_legacy, 1);
    EXPECT_EQ(after_legacy, 1);
}

TEST_F(streams, legacy_stream_does_not_wait_for_non_blocking_streams) {
    std::atomic<int> on_legacy{0};
    gate held(stream);
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, count, &on_legacy));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    EXPECT_EQ(on_legacy, 1);
    held.open();
}

TEST_F(streams, per_thread_streams_are_apart_but_wait_for_the_legacy_stream) {
    std::atomic<int> mine{0}, theirs{0};
    gate held(CU_STREAM_PER_THREAD);
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, count, &mine));
    on_thread([&] {
        EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
        EXPECT_EQ(cuLaunchHostFunc(CU_STREAM_PER_THREAD, count, &theirs), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    });
    EXPECT_EQ(theirs, 1);
    EXPECT_EQ(mine, 0);
    std::atomic<int> on_legacy{0};
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, count, &on_legacy));
    give_it_time();
    EXPECT_EQ(on_legacy, 0);
    held.open();
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    EXPECT_EQ(mine, 1);
    EXPECT_EQ(on_legacy, 1);
}

TEST_F(streams, events_order_streams) {
    std::atomic<int> ran{0};
    CUevent event = nullptr;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    gate held(stream);
    GIVES(CUDA_SUCCESS, cuEventQuery(event)) << "never recorded";
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuLaunchHostFunc(other, count, &ran));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    OK(cuEventDestroy(event));  // what waits for it still waits
    give_it_time();
    EXPECT_EQ(ran, 0);
    held.open();
    OK(cuStreamSynchronize(other));
    EXPECT_EQ(ran, 1);
}

TEST_F(streams, time_between_events_is_that_of_the_work) {
    float milliseconds = 0;
    CUevent begin = nullptr, end = nullptr;
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, begin, end));
    gate held(stream);
    OK(cuEventRecord(begin, other));
    OK(cuEventRecord(end, stream));
    OK(cuEventSynchronize(begin));
    GIVES(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, begin, end));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    held.open();
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&milliseconds, begin, end));
    EXPECT_GT(milliseconds, 4.0f);
    OK(cuEventDestroy(begin));
    OK(cuEventDestroy(end));
}

TEST_F(streams, destroyed_stream_completes_its_work_and_its_handle_is_recycled) {
    std::atomic<int> ran{0}, on_legacy{0};
    unsigned long long first = 0, second = 0;
    CUstream gone = nullptr, next = nullptr;
    OK(cuStreamCreate(&gone, CU_STREAM_DEFAULT));
    OK(cuStreamGetId(gone, &first));
    gate held(gone);
    OK(cuLaunchHostFunc(gone, count, &ran));
    OK(cuStreamDestroy(gone));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(gone));
    OK(cuStreamCreate(&next, CU_STREAM_DEFAULT));
    OK(cuStreamGetId(next, &second));
    EXPECT_EQ(gone, next);
    EXPECT_NE(first, second);
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, count, &on_legacy));
    give_it_time();
    EXPECT_EQ(on_legacy, 0) << "the legacy stream waits for work of destroyed streams too";
    held.open();
    EXPECT_TRUE(becomes(ran, 1));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuStreamDestroy(next));
}

TEST_F(streams, token_is_one_stream_per_thread) {
    unsigned long long mine = 0, again = 0, theirs = 0, legacy = 0;
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &again));
    OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    on_thread([&] {
        EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &theirs), CUDA_SUCCESS);
    });
    EXPECT_EQ(mine, again);
    EXPECT_NE(mine, theirs);
    EXPECT_NE(mine, legacy);
}

TEST_F(streams, work_of_an_ended_thread_completes_before_the_legacy_stream_goes_on) {
    CUdeviceptr word = 0;
    std::atomic<int> on_legacy{0};
    OK(cuMemAlloc(&word, 4));
    OK(cuMemsetD32(word, 0, 1));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    on_thread([&] {
        EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamWaitValue32(CU_STREAM_PER_THREAD, word, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
    });
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, count, &on_legacy));
    give_it_time();
    EXPECT_EQ(on_legacy, 0);
    OK(cuStreamWriteValue32(stream, word, 1, 0));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    EXPECT_EQ(on_legacy, 1);
    OK(cuMemFree(word));
}

TEST_F(streams, default_streams_cannot_be_destroyed) {
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_LEGACY));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_PER_THREAD));
}

TEST_F(streams, slow_callback_holds_up_all_others) {
    struct slow {
        std::atomic<int> begun{0}, released{0};
    } first;
    std::atomic<int> ran{0};
    auto const run = [](void* data) {
        auto& self = *static_cast<slow*>(data);
        self.begun = 1;
        becomes(self.released, 1);
    };
    OK(cuLaunchHostFunc(blocking, run, &first));
    ASSERT_TRUE(becomes(first.begun, 1));
    OK(cuLaunchHostFunc(other, count, &ran));
    give_it_time();
    EXPECT_EQ(ran, 0);
    first.released = 1;
    OK(cuStreamSynchronize(other));
    EXPECT_EQ(ran, 1);
}

TEST_F(streams, callbacks_may_not_call_the_driver) {
    std::atomic<int> result{-1}, in_callback{-1};
    OK(cuLaunchHostFunc(
        stream,
        [](void* data) {
            CUdeviceptr memory = 0;
            *static_cast<std::atomic<int>*>(data) = cuMemAlloc(&memory, 64);
        },
        &result));
    OK(cuStreamAddCallback(
        stream, [](CUstream, CUresult, void* data) { *static_cast<std::atomic<int>*>(data) = cuCtxSynchronize(); },
        &in_callback, 0));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(in_callback, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(streams, memory_operations_wait_and_write) {
    CUdeviceptr words = 0;
    unsigned value = 0;
    OK(cuMemAlloc(&words, 8));
    OK(cuMemsetD32(words, 0, 2));
    OK(cuStreamWaitValue32(blocking, words, 5, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue32(blocking, words + 4, 9, 0));
    give_it_time();
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
    OK(cuStreamWriteValue32(stream, words, 6, 0));
    OK(cuStreamSynchronize(blocking));
    OK(cuMemcpyDtoH(&value, words + 4, 4));
    EXPECT_EQ(value, 9u);
    OK(cuMemFree(words));
}

TEST_F(streams, threads_use_one_stream_at_once) {
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < 4; ++index) {
        threads.emplace_back([&] {
            EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
            for (int round = 0; round < 50; ++round) EXPECT_EQ(cuLaunchHostFunc(stream, count, &ran), CUDA_SUCCESS);
        });
    }
    for (auto& each : threads) each.join();
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(ran, 200);
}

}  // namespace
}  // namespace lastref::simdriver::test
