#include "collector/cupti/activities.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "collector/cupti/file.h"

namespace lastref::cupti::activities {
namespace {

using cupti_file::activity;
using cupti_file::activity_kind;

constexpr size_t buffer_bytes = 1 << 20;
constexpr unsigned batch_size = 256;
constexpr uint32_t flush_every_ms = 100;  // what a killed process loses at most, of what the device has finished

functions const* cupti = nullptr;
cupti_file::header* header = nullptr;
// CUPTI hands buffers over on a thread of its own, and on whichever thread flushes.
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
activity batch[batch_size];
unsigned batched = 0;

void write_batch() {
    if (batched != 0) file::append(batch, batched);
    batched = 0;
}

activity& next(activity_kind kind) {
    if (batched == batch_size) write_batch();
    activity& out = batch[batched++];
    out = activity{};
    out.kind = kind;
    return out;
}

void add_call(activity_kind kind, CUpti_ActivityAPI const& of) {
    activity& out = next(kind);
    out.correlation = of.correlationId;
    out.begin = of.start;
    out.end = of.end;
    out.object = kind == activity_kind::call ? of.cbid : 0;
    out.extra = of.returnValue;
    out.thread = of.threadId;
}

// What kernels, copies, sets and graph launches have in common.
template <class Record>
activity& add_work(activity_kind kind, Record const& of) {
    activity& out = next(kind);
    out.correlation = of.correlationId;
    out.begin = of.start;
    out.end = of.end;
    out.device = static_cast<uint16_t>(of.deviceId);
    out.context = of.contextId;
    out.stream = of.streamId;
    return out;
}

void add(CUpti_ActivitySynchronization2 const& of) {
    activity& out = next(activity_kind::synchronization);
    out.detail = static_cast<uint8_t>(of.type);
    out.correlation = of.correlationId;
    out.begin = of.start;
    out.end = of.end;
    out.context = of.contextId;
    out.stream = of.streamId;
}

void add(CUpti_ActivityMemory4 const& of) {
    bool const freed = of.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    activity& out = next(freed ? activity_kind::memory_free : activity_kind::memory_alloc);
    out.detail = static_cast<uint8_t>(of.memoryKind);
    out.correlation = of.correlationId;
    out.begin = of.timestamp;
    out.device = static_cast<uint16_t>(of.deviceId);
    out.context = of.contextId;
    out.stream = of.streamId;
    out.object = of.address;
    out.bytes = of.bytes;
    out.extra = of.memoryPoolConfig.address;
}

void add(CUpti_ActivityMemoryPool3 const& of) {
    using operation = CUpti_ActivityMemoryPoolOperationType;
    operation const what = of.memoryPoolOperationType;
    activity& out = next(what == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED     ? activity_kind::pool_create
                         : what == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED ? activity_kind::pool_destroy
                                                                                       : activity_kind::pool_trim);
    out.correlation = of.correlationId;
    out.begin = of.timestamp;
    out.device = static_cast<uint16_t>(of.deviceId);
    out.object = of.address;
    out.bytes = of.size;
    out.extra = of.utilizedSize;
}

template <class Record>
Record const& as(CUpti_Activity const* record) {
    return *reinterpret_cast<Record const*>(record);
}

void add(CUpti_Activity const* record) {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_DRIVER:
            return add_call(activity_kind::call, as<CUpti_ActivityAPI>(record));
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            return add_call(activity_kind::runtime_call, as<CUpti_ActivityAPI>(record));
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            add_work(activity_kind::kernel, as<CUpti_ActivityKernel10>(record));
            return;
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            auto const& of = as<CUpti_ActivityMemcpy6>(record);
            activity& out = add_work(activity_kind::copy, of);
            out.detail = of.copyKind;
            out.bytes = of.bytes;
            return;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            auto const& of = as<CUpti_ActivityMemset4>(record);
            add_work(activity_kind::set, of).bytes = of.bytes;
            return;
        }
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
            auto const& of = as<CUpti_ActivityGraphTrace2>(record);
            add_work(activity_kind::graph_launch, of).object = of.graphId;
            return;
        }
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return add(as<CUpti_ActivitySynchronization2>(record));
        case CUPTI_ACTIVITY_KIND_MEMORY2:
            return add(as<CUpti_ActivityMemory4>(record));
        case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
            return add(as<CUpti_ActivityMemoryPool3>(record));
        default:
            return;
    }
}

// CUPTI asks for CLOCK_MONOTONIC, which the recorded calls have, and turns the device's clock into it.
uint64_t CUPTIAPI monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
    *buffer = static_cast<uint8_t*>(aligned_alloc(8, buffer_bytes));
    *size = *buffer != nullptr ? buffer_bytes : 0;
    *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    pthread_mutex_lock(&one_at_a_time);
    CUpti_Activity* record = nullptr;
    while (cupti->next_record(buffer, valid, &record) == CUPTI_SUCCESS) add(record);
    write_batch();
    size_t lost = 0;
    if (cupti->dropped(nullptr, 0, &lost) == CUPTI_SUCCESS && lost != 0)
        header->dropped.fetch_add(lost, std::memory_order_relaxed);
    pthread_mutex_unlock(&one_at_a_time);
    free(buffer);
}

}  // namespace

bool begin(functions const& with, cupti_file::header& into) {
    cupti = &with;
    header = &into;
    with.thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (with.register_clock(monotonic_ns) != CUPTI_SUCCESS) return false;
    if (with.register_callbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) return false;
    bool all = true;
    for (CUpti_ActivityKind const kind :
         {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
          CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY_POOL})
        all = with.enable(kind) == CUPTI_SUCCESS && all;
    with.flush_period(flush_every_ms);
    return all;
}

void flush() {
    if (cupti != nullptr) cupti->flush(0);
}

}  // namespace lastref::cupti::activities
