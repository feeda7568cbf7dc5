// The CUDA driver behind the interface of driver.h. For programs that link libcuda.so.1 (CUDA::cuda_driver).
//
// Compile it as the rest of the program: CUDA_API_PER_THREAD_DEFAULT_STREAM decides what a null stream means, here as
// everywhere.
#pragma once

#include <cuda.h>

#include "lastref/reference/driver.h"

namespace lastref::reference {

// Two ways to compile it, two types: files of both kinds may meet in one program.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
inline namespace null_is_per_thread {
#else
inline namespace null_is_legacy {
#endif

// Ownership   Stateless. Use cuda(), which is never destroyed.
class cuda_driver final : public driver {
  public:
    null_stream null_stream_means() const noexcept override {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
        return null_stream::per_thread;
#else
        return null_stream::legacy;
#endif
    }

    char const* name_of(status result) const noexcept override {
        char const* name = nullptr;
        return cuGetErrorName(static_cast<CUresult>(result), &name) == CUDA_SUCCESS ? name : "unknown CUDA error";
    }

    status current_context(context_handle& current) noexcept override {
        return of(cuCtxGetCurrent(&current));
    }
    status set_current_context(context_handle context) noexcept override {
        return of(cuCtxSetCurrent(context));
    }
    status context_of(stream_handle created, context_handle& context) noexcept override {
        return of(cuStreamGetCtx(created, &context));
    }

    status allocate_async(device_pointer& pointer, std::size_t bytes, stream_handle stream) noexcept override {
        return of(cuMemAllocAsync(&pointer, bytes, stream));
    }
    status allocate_async(device_pointer& pointer, std::size_t bytes, pool_handle pool,
                          stream_handle stream) noexcept override {
        return of(cuMemAllocFromPoolAsync(&pointer, bytes, pool, stream));
    }
    status free_async(device_pointer pointer, stream_handle stream) noexcept override {
        return of(cuMemFreeAsync(pointer, stream));
    }
    status allocate_pinned(void*& pointer, std::size_t bytes) noexcept override {
        return of(cuMemHostAlloc(&pointer, bytes, CU_MEMHOSTALLOC_PORTABLE));
    }
    status free_pinned(void* pointer) noexcept override {
        return of(cuMemFreeHost(pointer));
    }
    status set_words_async(device_pointer pointer, std::uint32_t value, std::size_t count,
                           stream_handle stream) noexcept override {
        return of(cuMemsetD32Async(pointer, value, count, stream));
    }
    status copy_to_host_async(void* to, device_pointer from, std::size_t bytes,
                              stream_handle stream) noexcept override {
        return of(cuMemcpyDtoHAsync(to, from, bytes, stream));
    }

    status create_pool(pool_handle& pool, int device) noexcept override {
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        auto result = cuMemPoolCreate(&pool, &properties);
        if (result != CUDA_SUCCESS) return of(result);
        cuuint64_t without_limit = UINT64_MAX;
        result = cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &without_limit);
        if (result != CUDA_SUCCESS) cuMemPoolDestroy(pool);
        return of(result);
    }

    status create_event(event_handle& event) noexcept override {
        return of(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    }
    status destroy_event(event_handle event) noexcept override {
        return of(cuEventDestroy(event));
    }
    status record_event(event_handle event, stream_handle stream) noexcept override {
        return of(cuEventRecord(event, stream));
    }
    status wait_event(stream_handle stream, event_handle event) noexcept override {
        return of(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_DEFAULT));
    }
    status synchronize_event(event_handle event) noexcept override {
        return of(cuEventSynchronize(event));
    }

    status create_user_object(user_object_handle& object, void* payload, void (*destructor)(void*),
                              unsigned references) noexcept override {
        return of(cuUserObjectCreate(&object, payload, destructor, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    }
    status retain_user_object(user_object_handle object, unsigned references) noexcept override {
        return of(cuUserObjectRetain(object, references));
    }
    status release_user_object(user_object_handle object, unsigned references) noexcept override {
        return of(cuUserObjectRelease(object, references));
    }
    status graph_retain(graph_handle graph, user_object_handle object, unsigned references,
                        bool move) noexcept override {
        return of(cuGraphRetainUserObject(graph, object, references, move ? CU_GRAPH_USER_OBJECT_MOVE : 0));
    }
    status graph_release(graph_handle graph, user_object_handle object, unsigned references) noexcept override {
        return of(cuGraphReleaseUserObject(graph, object, references));
    }

  private:
    static status of(CUresult result) noexcept {
        return static_cast<status>(result);
    }
};

// The one that everybody uses.
inline cuda_driver& cuda() noexcept {
    static auto& calls = *new cuda_driver;
    return calls;
}

}  // namespace
}  // namespace lastref::reference
