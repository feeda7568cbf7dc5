// What runs after main, in order: an exit handler registered after cuInit still finds the driver; one registered before
// it, and a static object made before it, find it shut down.
#include <cstdlib>

#include "calls.h"

namespace {

using namespace lastref::workload;

CUdeviceptr first = 0, second = 0, third = 0;

void at_exit_late() {
    fact("exit handler registered after cuInit: free", cuMemFree(first), CUDA_SUCCESS);
    std::fflush(stdout);
}

void at_exit_early() {
    fact("exit handler registered before cuInit: free", cuMemFree(second), CUDA_ERROR_DEINITIALIZED);
    std::fflush(stdout);
}

struct frees_in_destructor {
    ~frees_in_destructor() {
        fact("static object made before cuInit: free", cuMemFree(third), CUDA_ERROR_DEINITIALIZED);
        std::fflush(stdout);
    }
} static_object;

}  // namespace

int main() {
    std::atexit(at_exit_early);
    use_first_device();
    std::atexit(at_exit_late);
    MUST(cuMemAlloc(&first, 1024));
    MUST(cuMemAlloc(&second, 1024));
    MUST(cuMemAlloc(&third, 1024));
    return finish();
}
