// crash [calls] (default 100): segmentation fault after that many pairs of calls, with memory still allocated.
#include <cstdlib>

#include "calls.h"

int main(int argc, char** argv) {
    using namespace lastref::workload;
    use_first_device();
    CUdeviceptr kept = 0;
    fact("allocation", cuMemAlloc(&kept, 4096), CUDA_SUCCESS);
    allocate_and_free(argc > 1 ? std::atoi(argv[1]) : 100);
    std::puts("about to crash");
    std::fflush(stdout);
    *static_cast<int volatile*>(nullptr) = 0;
}
