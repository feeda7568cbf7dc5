// Releases that fail, come twice, too late or never: failed-free, double-free, shutdown-release, allocation-leak,
// handle-leak, first-error.
#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

using workload::fact;

CUdeviceptr device_memory() {
    CUdeviceptr out = 0;
    MUST(cuMemAlloc(&out, bytes));
    return out;
}

}  // namespace

FAULT(failed_free, legacy_token_without_a_context) {
    auto const buffer = used_buffer(CU_STREAM_LEGACY);
    on_bare_thread([&] { fact("free", cuMemFreeAsync(buffer, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT); });
}

FAULT(failed_free, per_thread_token_without_a_context) {
    auto const buffer = used_buffer(CU_STREAM_PER_THREAD);
    on_bare_thread([&] { fact("free", cuMemFreeAsync(buffer, CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT); });
}

HEALTHY(failed_free, repeated_with_success) {
    auto const buffer = used_buffer(CU_STREAM_LEGACY);
    on_bare_thread([&] { fact("free", cuMemFreeAsync(buffer, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT); });
    MUST(cuMemFreeAsync(buffer, CU_STREAM_LEGACY));
}

HEALTHY(failed_free, created_stream_without_a_context) {
    stream const a;
    auto const buffer = used_buffer(a);
    on_bare_thread([&] { MUST(cuMemFreeAsync(buffer, a)); });
}

FAULT(double_free, device_memory_freed_twice) {
    auto const buffer = device_memory();
    MUST(cuMemFree(buffer));
    fact("second free", cuMemFree(buffer), CUDA_ERROR_INVALID_VALUE);
}

FAULT(double_free, stream_ordered_memory_freed_twice) {
    stream const a;
    auto const buffer = used_buffer(a);
    MUST(cuMemFreeAsync(buffer, a));
    a.synchronize();
    fact("second free", cuMemFreeAsync(buffer, a), CUDA_ERROR_INVALID_VALUE);
}

FAULT(double_free, address_that_was_never_allocated) {
    fact("free", cuMemFree(0x1234000), CUDA_ERROR_INVALID_VALUE);
}

HEALTHY(double_free, the_same_address_again) {
    for (int i = 0; i < 3; ++i) MUST(cuMemFree(device_memory()));
}

HEALTHY(double_free, freed_by_either_owner_once) {
    stream const a;
    auto const buffer = used_buffer(a);
    bool freed = false;
    auto const drop = [&] {
        if (!freed) MUST(cuMemFreeAsync(buffer, a));
        freed = true;
    };
    drop();
    on_thread(drop);
}

namespace {

// Frees in its destructor. The statics are made before the driver is initialised, and outlive it.
class owned_memory {
  public:
    owned_memory() = default;
    owned_memory(owned_memory const&) = delete;
    owned_memory& operator=(owned_memory const&) = delete;
    ~owned_memory() { release(); }

    void allocate(bool pinned) {
        if (pinned)
            MUST(cuMemAllocHost(&host_, bytes));
        else
            device_ = device_memory();
    }
    __attribute__((noinline)) void release() {
        if (device_) cuMemFree(device_);
        if (host_) cuMemFreeHost(host_);
        device_ = 0;
        host_ = nullptr;
    }

  private:
    CUdeviceptr device_ = 0;
    void* host_ = nullptr;
};

owned_memory outlives_the_driver;

}  // namespace

FAULT(shutdown_release, device_memory_of_a_static) {
    outlives_the_driver.allocate(false);
}

FAULT(shutdown_release, pinned_memory_of_a_static) {
    outlives_the_driver.allocate(true);
}

HEALTHY(shutdown_release, static_released_before_main_returns) {
    outlives_the_driver.allocate(false);
    outlives_the_driver.release();
}

HEALTHY(shutdown_release, local_owner) {
    owned_memory local;
    local.allocate(true);
}

FAULT(allocation_leak, never_freed) {
    device_memory();
}

FAULT(allocation_leak, one_of_several) {
    std::vector<CUdeviceptr> buffers;
    for (int i = 0; i < 4; ++i) buffers.push_back(device_memory());
    for (int i = 0; i < 3; ++i) MUST(cuMemFree(buffers[static_cast<std::size_t>(i)]));
}

FAULT(allocation_leak, one_more_each_step) {
    for_a_while([](int) {
        void* pinned = nullptr;
        MUST(cuMemAllocHost(&pinned, 4096));
    });
}

FAULT(allocation_leak, registered_and_not_unregistered) {
    static std::vector<char> memory(1 << 20);
    MUST(cuMemHostRegister(memory.data(), memory.size(), 0));
}

HEALTHY(allocation_leak, bounded_cache_freed_at_the_end) {
    std::vector<CUdeviceptr> cache;
    for (int i = 0; i < 40; ++i) {
        if (cache.size() == 8) {
            MUST(cuMemFree(cache.front()));
            cache.erase(cache.begin());
        }
        cache.push_back(device_memory());
    }
    for (auto const buffer : cache) MUST(cuMemFree(buffer));
}

HEALTHY(allocation_leak, went_with_its_context) {
    CUdevice device = 0;
    CUcontext own = nullptr;
    MUST(cuDeviceGet(&device, 0));
    MUST(cuCtxCreate(&own, nullptr, 0, device));
    device_memory();
    MUST(cuCtxDestroy(own));
}

FAULT(handle_leak, one_event_forgotten_among_several) {
    for (int i = 0; i < 4; ++i) {
        CUevent each = nullptr;
        MUST(cuEventCreate(&each, 0));
        if (i != 2) MUST(cuEventDestroy(each));
    }
}

FAULT(handle_leak, pool_never_destroyed) {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool = nullptr;
    MUST(cuMemPoolCreate(&pool, &props));
}

FAULT(handle_leak, one_more_stream_each_step) {
    for_a_while([](int) {
        CUstream each = nullptr;
        MUST(cuStreamCreate(&each, CU_STREAM_NON_BLOCKING));
    });
}

HEALTHY(handle_leak, destroyed_in_any_order) {
    std::vector<CUevent> events(5);
    for (auto& each : events) MUST(cuEventCreate(&each, 0));
    while (!events.empty()) {
        MUST(cuEventDestroy(events.back()));
        events.pop_back();
    }
}

HEALTHY(handle_leak, went_with_their_context) {
    CUdevice device = 0;
    CUcontext own = nullptr;
    CUstream made = nullptr;
    CUevent also = nullptr;
    MUST(cuDeviceGet(&device, 0));
    MUST(cuCtxCreate(&own, nullptr, 0, device));
    MUST(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&also, 0));
    MUST(cuCtxDestroy(own));
}

namespace {

// On a real GPU the kernel fails; on the simulated driver, whose kernels compute nothing, the runner tells the
// synchronization to.
char const failing_code[] = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry fails() { trap; ret; }
)";

void launch_failing_kernel() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    MUST(cuModuleLoadData(&module, failing_code));
    MUST(cuModuleGetFunction(&function, module, "fails"));
    MUST(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, nullptr, nullptr));
}

void expect_lost(CUresult result) {
    fact("the context is lost", result >= 700 && result < 800, true);
}

}  // namespace

FAULT(first_error, reported_by_a_synchronization) {
    launch_failing_kernel();
    expect_lost(cuCtxSynchronize());
}

FAULT(first_error, frees_that_follow) {
    auto const buffer = device_memory();
    launch_failing_kernel();
    expect_lost(cuCtxSynchronize());
    expect_lost(cuMemFree(buffer));
}

HEALTHY(first_error, not_ready_is_no_error) {
    stream const a;
    auto const buffer = used_buffer(a);
    while (cuStreamQuery(a) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
    MUST(cuMemFreeAsync(buffer, a));
    a.synchronize();
}

HEALTHY(first_error, out_of_memory_is_handled) {
    CUdeviceptr buffer = 0;
    fact("too much", cuMemAlloc(&buffer, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
    MUST(cuMemFree(device_memory()));
}

}  // namespace lastref::corpus
