// What every workload prints: facts, never addresses or times, so that runs can be compared; and whether they are as
// expected.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <semaphore>
#include <thread>

namespace lastref::workload {

inline std::atomic<int>& surprises() {
    static std::atomic<int> count{0};
    return count;
}

// A fact with one allowed value.
inline void fact(char const* name, long long value, long long expected) {
    std::printf("%s: %lld\n", name, value);
    if (value == expected) return;
    ++surprises();
    std::printf("  expected %lld\n", expected);
}

inline void fact(char const* name, CUresult value, CUresult expected) {
    fact(name, static_cast<long long>(value), static_cast<long long>(expected));
}

// A call that must succeed and is not worth a line.
inline void must(CUresult result, char const* what) {
    if (result == CUDA_SUCCESS) return;
    ++surprises();
    std::printf("%s: %d, expected success\n", what, static_cast<int>(result));
}

#define MUST(call) ::lastref::workload::must(call, #call)

// Host functions, and destructors after a launch, run on a thread of the driver's, some time after what they wait for.
inline bool becomes(std::atomic<int> const& counter, int value) {
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (counter != value && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    return counter == value;
}

// For what must not happen: long enough that it would have.
inline void give_it_time() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// Runs `work` on a thread of its own, returns when it is done, and keeps the thread until the process ends: a driver
// (580.159.04, most runs) hangs in its own clean-up where threads end that used their per-thread default streams.
template <class Work>
void on_lasting_thread(Work work) {
    auto const done = std::make_shared<std::binary_semaphore>(0);
    std::thread([done, &work] {
        work();
        done->release();
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }).detach();
    done->acquire();
}

inline CUcontext use_first_device() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    return context;
}

// Holds a stream up without a kernel and without the callback thread: the stream waits for a word of pinned memory.
class held_up_stream {
  public:
    explicit held_up_stream(CUstream stream) {
        void* word = nullptr;
        MUST(cuMemHostAlloc(&word, 4, CU_MEMHOSTALLOC_DEVICEMAP));
        word_ = static_cast<unsigned*>(word);
        std::atomic_ref(*word_).store(0);
        CUdeviceptr address = 0;
        MUST(cuMemHostGetDevicePointer(&address, word_, 0));
        MUST(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    held_up_stream(held_up_stream const&) = delete;
    held_up_stream& operator=(held_up_stream const&) = delete;
    ~held_up_stream() { MUST(cuMemFreeHost(word_)); }

    void let_go() { std::atomic_ref(*word_).store(1); }

  private:
    unsigned* word_;
};

inline int finish() {
    std::fflush(stdout);
    return surprises() ? 1 : 0;
}

}  // namespace lastref::workload
