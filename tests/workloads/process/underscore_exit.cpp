// Leaves through _exit(3): no exit handler runs, the driver is never shut down.
#include <unistd.h>

#include "calls.h"

int main() {
    using namespace lastref::workload;
    use_first_device();
    allocate_and_free(20);
    CUdeviceptr kept = 0;
    fact("allocation", cuMemAlloc(&kept, 4096), CUDA_SUCCESS);
    _exit(finish() ? 1 : 3);
}
