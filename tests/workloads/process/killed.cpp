// killed [threads] (default 3): prints `ready` when every thread has made some calls, then calls on until it is killed.
// Where nobody does, it ends by itself after two minutes, so that a test that fails leaves nothing behind.
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "calls.h"

int main(int argc, char** argv) {
    using namespace lastref::workload;
    int const wanted = argc > 1 ? std::atoi(argv[1]) : 3;
    CUcontext const context = use_first_device();
    std::atomic<int> warm{0};
    alarm(120);
    std::vector<std::thread> threads;
    for (int index = 0; index < wanted; ++index) {
        threads.emplace_back([&] {
            MUST(cuCtxSetCurrent(context));
            for (int round = 0;; ++round) {
                MUST(allocate_and_free(CU_STREAM_PER_THREAD));
                if (round == 50) ++warm;
                if (round % 50 == 0) MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD));
            }
        });
    }
    if (becomes(warm, wanted)) std::puts("ready");
    std::fflush(stdout);
    for (auto& each : threads) each.join();
}
