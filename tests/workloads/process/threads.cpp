// threads [count] (default 500) [at once] (default 8): many short-lived threads, each with calls on its own default
// stream.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "calls.h"

namespace {

using namespace lastref::workload;

void one_thread(CUcontext context, std::atomic<int>& freed) {
    MUST(cuCtxSetCurrent(context));
    if (allocate_and_free(CU_STREAM_PER_THREAD) == CUDA_SUCCESS) ++freed;
}

// A thread_local object frees when its thread has otherwise ended.
struct frees_at_thread_end {
    CUdeviceptr memory = 0;
    std::atomic<int>* freed = nullptr;
    ~frees_at_thread_end() {
        if (memory && cuMemFree(memory) == CUDA_SUCCESS) ++*freed;
    }
};

void thread_with_late_free(CUcontext context, std::atomic<int>& freed) {
    static thread_local frees_at_thread_end late;
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&late.memory, 256));
    late.freed = &freed;
}

}  // namespace

int main(int argc, char** argv) {
    int const count = argc > 1 ? std::atoi(argv[1]) : 500, at_once = argc > 2 ? std::atoi(argv[2]) : 8;
    CUcontext const context = use_first_device();
    std::atomic<int> freed{0}, freed_late{0};
    for (int started = 0; started < count; started += at_once) {
        std::vector<std::thread> batch;
        for (int index = started; index < std::min(count, started + at_once); ++index)
            batch.emplace_back(one_thread, context, std::ref(freed));
        for (auto& each : batch) each.join();
    }
    for (int index = 0; index < 10; ++index) std::thread(thread_with_late_free, context, std::ref(freed_late)).join();
    fact("threads that freed", freed, count);
    fact("threads that freed at their end", freed_late, 10);
    MUST(cuCtxSynchronize());
    return finish();
}
