// fork before the driver is initialised: the child uses CUDA, and so does the parent. fork after: every call in the
// child is refused, and neither that child nor its exit disturbs the parent.
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

namespace {

using namespace lastref::workload;

template <class Work>
int in_child(Work work) {
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        work();
        std::exit(finish());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void use_driver() {
    use_first_device();
    allocate_and_free(10);
    CUdeviceptr kept = 0;
    fact("child forked before initialisation: allocation", cuMemAlloc(&kept, 1024), CUDA_SUCCESS);
}

void find_driver_unusable() {
    CUdeviceptr memory = 0;
    int count = 0;
    fact("child forked after initialisation: cuInit", cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
    fact("child forked after initialisation: cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    fact("child forked after initialisation: cuMemAlloc", cuMemAlloc(&memory, 64), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace

int main() {
    fact("first child's exit status", in_child(use_driver), 0);
    use_first_device();
    allocate_and_free(10);
    fact("second child's exit status", in_child(find_driver_unusable), 0);
    allocate_and_free(10);
    CUdeviceptr memory = 0;
    fact("parent: allocation", cuMemAlloc(&memory, 1024), CUDA_SUCCESS);
    fact("parent: free", cuMemFree(memory), CUDA_SUCCESS);
    return finish();
}
