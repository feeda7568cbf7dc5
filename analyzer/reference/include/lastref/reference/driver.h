// The few functions of the CUDA driver that the reference calls, as an interface: the core needs no CUDA headers, and
// tests put a driver of their own behind it. adapters/lastref/reference/cuda/cuda_driver.h is the real one.
//
// Handles are the driver's own types, declared but not defined: they are the same types where cuda.h is included too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUmemPoolHandle_st;
struct CUuserObject_st;

namespace lastref::reference {

using context_handle = CUctx_st*;
using stream_handle = CUstream_st*;
using event_handle = CUevent_st*;
using graph_handle = CUgraph_st*;
using pool_handle = CUmemPoolHandle_st*;
using user_object_handle = CUuserObject_st*;
using device_pointer = unsigned long long;

// CUresult; the values that this code tells apart have names.
enum class status : int {
    success = 0,
    out_of_memory = 2,
    deinitialized = 4,      // the driver has been torn down: process exit
    invalid_context = 201,  // no context current, or a dead one. Never a success: the memory stays allocated
    not_permitted = 800,    // inside a callback
};

// The default-stream tokens. Null means one of them, which one depends on how the caller was compiled.
inline stream_handle legacy_stream() noexcept {
    return reinterpret_cast<stream_handle>(0x1);
}
inline stream_handle per_thread_stream() noexcept {
    return reinterpret_cast<stream_handle>(0x2);
}

enum class null_stream { legacy, per_thread };

// Ownership   Lives as long as the process: clean-ups come late.
// Threads     Any. Like the driver's functions, each acts on the calling thread's current context.
// Errors      By status; an output is written on success only.
class driver {
  public:
    // What a null stream means in the code that includes this (CUDA_API_PER_THREAD_DEFAULT_STREAM).
    virtual null_stream null_stream_means() const noexcept = 0;
    virtual char const* name_of(status result) const noexcept = 0;

    virtual status current_context(context_handle& current) noexcept = 0;
    virtual status set_current_context(context_handle context) noexcept = 0;
    virtual status context_of(stream_handle created, context_handle& context) noexcept = 0;

    virtual status allocate_async(device_pointer& pointer, std::size_t bytes, stream_handle stream) noexcept = 0;
    virtual status allocate_async(device_pointer& pointer, std::size_t bytes, pool_handle pool,
                                  stream_handle stream) noexcept = 0;
    virtual status free_async(device_pointer pointer, stream_handle stream) noexcept = 0;
    virtual status allocate_pinned(void*& pointer, std::size_t bytes) noexcept = 0;
    virtual status free_pinned(void* pointer) noexcept = 0;
    virtual status set_words_async(device_pointer pointer, std::uint32_t value, std::size_t count,
                                   stream_handle stream) noexcept = 0;
    virtual status copy_to_host_async(void* to, device_pointer from, std::size_t bytes,
                                      stream_handle stream) noexcept = 0;

    // A pool of `device` that never gives memory back by itself (release threshold without limit).
    virtual status create_pool(pool_handle& pool, int device) noexcept = 0;

    virtual status create_event(event_handle& event) noexcept = 0;  // without timing
    virtual status destroy_event(event_handle event) noexcept = 0;
    virtual status record_event(event_handle event, stream_handle stream) noexcept = 0;
    virtual status wait_event(stream_handle stream, event_handle event) noexcept = 0;
    virtual status synchronize_event(event_handle event) noexcept = 0;

    // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC is implied: the driver knows no other user objects.
    virtual status create_user_object(user_object_handle& object, void* payload, void (*destructor)(void*),
                                      unsigned references) noexcept = 0;
    virtual status retain_user_object(user_object_handle object, unsigned references) noexcept = 0;
    virtual status release_user_object(user_object_handle object, unsigned references) noexcept = 0;
    virtual status graph_retain(graph_handle graph, user_object_handle object, unsigned references,
                                bool move) noexcept = 0;
    virtual status graph_release(graph_handle graph, user_object_handle object, unsigned references) noexcept = 0;

  protected:
    ~driver() = default;
};

// What is thrown where a caller can still do something about it.
class driver_error : public std::runtime_error {
  public:
    driver_error(driver const& source, status result, char const* what)
        : std::runtime_error(std::string(what) + ": " + source.name_of(result)), result_(result) {}
    status result() const noexcept { return result_; }

  private:
    status result_;
};

inline void throw_unless_success(driver const& source, status result, char const* what) {
    if (result != status::success) throw driver_error(source, result, what);
}

}  // namespace lastref::reference
