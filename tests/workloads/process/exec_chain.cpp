// exec_chain N (default 2): uses CUDA, then becomes the next of N programs, itself, by exec.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "calls.h"

int main(int argc, char** argv) {
    using namespace lastref::workload;
    int const left = argc > 1 ? std::atoi(argv[1]) : 2;
    use_first_device();
    allocate_and_free(5);
    CUdeviceptr kept = 0;
    fact(("allocation with programs left " + std::to_string(left)).c_str(), cuMemAlloc(&kept, 2048), CUDA_SUCCESS);
    if (left <= 0) {
        fact("last free", cuMemFree(kept), CUDA_SUCCESS);
        return finish();
    }
    std::fflush(stdout);
    std::string const next = std::to_string(left - 1);
    execl("/proc/self/exe", argv[0], next.c_str(), nullptr);
    return 1;
}
