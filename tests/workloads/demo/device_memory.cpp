// Plain device memory: leaked, freed, and freed too late.
#include "demo.h"
#include "tests/workloads/common/facts.h"

namespace lastref::demo {
namespace {

using workload::fact;

constexpr std::size_t buffer_bytes = 3 << 20;

// Frees its memory in its destructor. As a static object made before the driver is initialised it outlives the driver.
class owned_memory {
  public:
    owned_memory() = default;
    owned_memory(owned_memory const&) = delete;
    owned_memory& operator=(owned_memory const&) = delete;
    ~owned_memory();

    void allocate() { MUST(cuMemAlloc(&buffer_, buffer_bytes)); }
    LASTREF_DEMO_STEP void release() {
        MUST(cuMemFree(buffer_));
        buffer_ = 0;
    }

  private:
    CUdeviceptr buffer_ = 0;
};

LASTREF_DEMO_STEP owned_memory::~owned_memory() {
    if (!buffer_) return;
    fact("free after main", cuMemFree(buffer_), CUDA_ERROR_DEINITIALIZED);
    std::fflush(stdout);
}

owned_memory static_memory, static_memory_released_in_time;

}  // namespace

LASTREF_DEMO_STEP void fault_device_memory_leaked() {
    CUdeviceptr buffer = 0;
    fact("device memory, never freed", cuMemAlloc(&buffer, buffer_bytes), CUDA_SUCCESS);
}

LASTREF_DEMO_STEP void healthy_device_memory_freed() {
    CUdeviceptr buffer = 0;
    fact("device memory", cuMemAlloc(&buffer, buffer_bytes), CUDA_SUCCESS);
    fact("device memory, freed", cuMemFree(buffer), CUDA_SUCCESS);
}

LASTREF_DEMO_STEP void fault_released_after_main() {
    static_memory.allocate();
}

LASTREF_DEMO_STEP void healthy_released_before_exit() {
    static_memory_released_in_time.allocate();
    static_memory_released_in_time.release();
}

}  // namespace lastref::demo
