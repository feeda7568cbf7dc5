// Green contexts, and events of whole contexts.
#include <cstring>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {

struct green_context {
    CUgreenCtx handle = nullptr;
    context_ptr inside;
    CUdevResource resource{};
};

struct resource_description {
    CUdevResourceDesc handle = nullptr;
    CUdevResource resource{};
};

namespace {

constexpr unsigned multiprocessors = 16, smallest_partition = 8;

handle_table<CUgreenCtx, green_context>& green_contexts() {
    static auto* const table = new handle_table<CUgreenCtx, green_context>;
    return *table;
}

handle_table<CUdevResourceDesc, resource_description>& descriptions() {
    static auto* const table = new handle_table<CUdevResourceDesc, resource_description>;
    return *table;
}

CUdevResource partition(unsigned count) {
    CUdevResource made{};
    made.type = CU_DEV_RESOURCE_TYPE_SM;
    made.sm.smCount = count;
    made.sm.minSmPartitionSize = made.sm.smCoscheduledAlignment = smallest_partition;
    return made;
}

// An event recorded on a context stands for all work that is on its streams now.
void record_all(context& of, event& what) {
    auto const work = std::make_shared<operation>();
    driver().work.submit(work, work_of(of));
    what.recorded = work;
    what.captured = false;
}

void all_wait(context& of, event const& what) {
    if (!what.recorded) return;
    for (auto const& each : streams_of(of)) submit(*each, std::make_shared<operation>(), {what.recorded});
}

CUresult find(CUcontext handle, CUevent event_handle, context_ptr& of, event_ptr& what) {
    of = driver().contexts.find(handle);
    what = driver().events.find(event_handle);
    if (!of) return CUDA_ERROR_INVALID_CONTEXT;
    return what ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUcontext context_in(CUgreenCtx handle) {
    auto const green = green_contexts().find(handle);
    return green ? green->inside->handle : nullptr;
}

}  // namespace

namespace api {

CUresult cuDeviceGetDevResource(call const&, CUdevice dev, CUdevResource* out, CUdevResourceType type) {
    if (!out || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *out = partition(multiprocessors);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevResource(call const& c, CUcontext handle, CUdevResource* out, CUdevResourceType type) {
    auto const of = driver().contexts.find(handle);
    if (!of) return CUDA_ERROR_INVALID_CONTEXT;
    if (auto const green = green_contexts().find(of->green)) {
        *out = green->resource;
        return CUDA_SUCCESS;
    }
    return cuDeviceGetDevResource(c, of->owner->ordinal, out, type);
}

CUresult cuGreenCtxGetDevResource(call const&, CUgreenCtx handle, CUdevResource* out, CUdevResourceType type) {
    auto const of = green_contexts().find(handle);
    if (!of || !out) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *out = of->resource;
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(call const&, CUdevResource* result, unsigned int* groups,
                                     CUdevResource const* input, CUdevResource* remaining, unsigned int,
                                     unsigned int least) {
    if (any_null(groups, input) || input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
    unsigned const size = static_cast<unsigned>(round_up(std::max(least, 1u), smallest_partition));
    unsigned const possible = input->sm.smCount / size;
    if (!possible) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    unsigned const made = result ? std::min(*groups, possible) : possible;
    for (unsigned index = 0; result && index < made; ++index) result[index] = partition(size);
    *groups = made;
    if (remaining) *remaining = partition(input->sm.smCount - made * size);
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(call const&, CUdevResourceDesc* out, CUdevResource* resources, unsigned int count) {
    if (any_null(out, resources) || count != 1) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<resource_description>();
    made->resource = resources[0];
    *out = descriptions().add(made);
    return CUDA_SUCCESS;
}

// Holds the device's primary context alive, as the real one does.
CUresult cuGreenCtxCreate(call const&, CUgreenCtx* out, CUdevResourceDesc description, CUdevice dev,
                          unsigned int flags) {
    device* const owner = find_device(dev);
    auto const what = descriptions().find(description);
    if (!out || !what || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    if (!owner) return CUDA_ERROR_INVALID_DEVICE;
    auto made = std::make_shared<green_context>();
    made->inside = make_context(*owner, 0);
    made->resource = what->resource;
    *out = made->inside->green = green_contexts().add(made);
    retain_primary(*owner);
    ++owner->primary_references;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(call const& c, CUgreenCtx handle) {
    auto const gone = green_contexts().find(handle);
    if (!gone) return CUDA_ERROR_INVALID_VALUE;
    end_context(c, *gone->inside);
    driver().contexts.remove(gone->inside->handle);
    green_contexts().remove(handle);
    return cuDevicePrimaryCtxRelease(c, gone->inside->owner->ordinal);
}

CUresult cuCtxFromGreenCtx(call const&, CUcontext* out, CUgreenCtx handle) {
    auto const of = green_contexts().find(handle);
    if (!out || !of) return CUDA_ERROR_INVALID_VALUE;
    *out = of->inside->handle;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(call const&, CUstream* out, CUgreenCtx handle, unsigned int flags, int priority) {
    auto const of = green_contexts().find(handle);
    if (!out || !of || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    auto const made = make_stream(*of->inside, stream::role::created, flags, priority);
    made->green = handle;
    *out = driver().streams.add(made);
    of->inside->streams.push_back(made);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetId(call const&, CUgreenCtx handle, unsigned long long* id) {
    auto const of = green_contexts().find(handle);
    if (!id || !of) return CUDA_ERROR_INVALID_VALUE;
    *id = of->inside->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxRecordEvent(call const&, CUcontext handle, CUevent event_handle) {
    context_ptr of;
    event_ptr what;
    SIM_TRY(find(handle, event_handle, of, what));
    record_all(*of, *what);
    return CUDA_SUCCESS;
}

CUresult cuCtxWaitEvent(call const&, CUcontext handle, CUevent event_handle) {
    context_ptr of;
    event_ptr what;
    SIM_TRY(find(handle, event_handle, of, what));
    all_wait(*of, *what);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(call const& c, CUgreenCtx handle, CUevent event) {
    return cuCtxRecordEvent(c, context_in(handle), event);
}

CUresult cuGreenCtxWaitEvent(call const& c, CUgreenCtx handle, CUevent event) {
    return cuCtxWaitEvent(c, context_in(handle), event);
}

}  // namespace api
}  // namespace lastref::simdriver
