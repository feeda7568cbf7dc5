#include "collector/preload/record/context.h"

#include "collector/preload/driver/driver.h"

namespace lastref::preload {
namespace {

using entry = spool::spool_header::context_entry;

std::uint64_t describe(int device, spool::context_kind kind) {
    return static_cast<std::uint32_t>(device + 1) | static_cast<std::uint64_t>(kind) << 32;
}

// Contexts are numbered by life, not by handle: the newest entry of a handle is the one alive.
std::uint16_t find(std::uint64_t handle) {
    auto& header = *process::the.header;
    for (std::uint32_t i = header.contexts_used.load(std::memory_order_acquire); i-- > 1;) {
        if (header.contexts[i].handle.load(std::memory_order_acquire) == handle) return static_cast<std::uint16_t>(i);
    }
    return 0;
}

std::uint16_t add(std::uint64_t handle, std::uint64_t description) {
    auto& header = *process::the.header;
    std::uint32_t const index = header.contexts_used.fetch_add(1, std::memory_order_acq_rel);
    if (index >= spool::max_contexts) {
        header.contexts_used.store(spool::max_contexts, std::memory_order_release);
        process::count(spool::loss::contexts_unnamed);
        return 0;
    }
    header.contexts[index].device_and_kind.store(description, std::memory_order_relaxed);
    header.contexts[index].handle.store(handle, std::memory_order_release);
    return static_cast<std::uint16_t>(index);
}

std::uint16_t find_or_add(std::uint64_t handle) {
    if (std::uint16_t const known = find(handle)) return known;
    int device = -1;
    CUcontext current = nullptr;
    // cuCtxGetDevice speaks of the current context only; it is legal wherever the call was that got us here.
    if (auto const get_current = driver::current_context_function();
        get_current != nullptr && get_current(&current) == CUDA_SUCCESS &&
        reinterpret_cast<std::uint64_t>(current) == handle) {
        CUdevice found = -1;
        if (auto const get_device = driver::device_function();
            get_device != nullptr && get_device(&found) == CUDA_SUCCESS)
            device = found;
    }
    return add(handle, describe(device, spool::context_kind::unknown));
}

std::uint64_t number(CUcontext context) {
    return reinterpret_cast<std::uint64_t>(context);
}

void bind(thread_ring& r, std::uint64_t handle) {
    r.context = handle == 0 ? std::uint16_t{0} : find_or_add(handle);
    r.context_handle = handle;
}

}  // namespace

void context_is(CUcontext context) {
    thread_ring* const r = rings::acquire();
    if (r != nullptr && r->context_handle != number(context)) bind(*r, number(context));
}

void context_changed() {
    thread_ring* const r = rings::acquire();
    auto const get_current = driver::current_context_function();
    if (r == nullptr || get_current == nullptr) return;
    CUcontext now = nullptr;
    bind(*r, get_current(&now) == CUDA_SUCCESS ? number(now) : 0);
}

void context_created(CUcontext context, CUdevice device) {
    thread_ring* const r = rings::acquire();
    if (r == nullptr) return;
    std::uint16_t const index = add(number(context), describe(device, spool::context_kind::created));
    r->context = index;
    r->context_handle = number(context);
}

// Primary contexts keep their handle over resets, so one entry is enough; it may have been met as current before.
void context_retained(CUcontext context, CUdevice device) {
    if (rings::acquire() == nullptr) return;
    std::uint16_t index = find(number(context));
    std::uint64_t const description = describe(device, spool::context_kind::primary);
    if (index == 0) index = add(number(context), description);
    if (index != 0) process::the.header->contexts[index].device_and_kind.store(description, std::memory_order_relaxed);
}

void context_from_green(CUcontext context) {
    if (rings::acquire() == nullptr || find(number(context)) != 0) return;
    add(number(context), describe(-1, spool::context_kind::green));
}

void context_destroyed(CUcontext) {
    context_changed();
}

void verify_context() {
    thread_ring& r = ring;
    auto const get_current = driver::current_context_function();
    CUcontext now = nullptr;
    if (r.callbacks != 0 || get_current == nullptr || get_current(&now) != CUDA_SUCCESS) return;
    if (number(now) != r.context_handle) process::count(spool::loss::context_mismatch);
}

}  // namespace lastref::preload
