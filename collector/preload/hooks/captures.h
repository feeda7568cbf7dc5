// What the capture expressions of driver_api.def may use. They are evaluated after the call, with `ok` in scope.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "collector/preload/driver/cuda_abi.h"

namespace lastref::preload::hooks {

template <class T>
[[gnu::always_inline]] constexpr std::uint64_t as_u64(T value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::uint64_t>(value);
    else if constexpr (std::is_null_pointer_v<T>)
        return 0;
    else
        return static_cast<std::uint64_t>(value);
}

// Null-safe member: programs do pass null where the driver answers INVALID_VALUE.
#define FIELD(pointer, member) \
    ((pointer) != nullptr ? (pointer)->member : std::remove_cvref_t<decltype((pointer)->member)>{})

template <class T>
T read_if(bool ok, T const* pointer) {
    return ok && pointer != nullptr ? *pointer : T{};
}
// Attributes behind a void*; those of 64 bits are memory sizes, the others int.
inline std::uint64_t read64_if(bool ok, void const* pointer) {
    return ok && pointer != nullptr ? *static_cast<cuuint64_t const*>(pointer) : 0;
}
#define out(pointer) read_if(ok, pointer)
#define out64(pointer) read64_if(ok, pointer)

inline std::uint64_t pool_attribute(CUmemPool_attribute attribute, void const* value) {
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            return static_cast<std::uint64_t>(*static_cast<int const*>(value));
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            return *static_cast<cuuint64_t const*>(value);
        default:
            return 0;  // an attribute of a newer driver, of unknown width
    }
}

inline std::uint64_t format_bytes(CUarray_format format) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4;
        default:
            return 1;
    }
}
inline std::uint64_t at_least_one(std::uint64_t extent) {
    return extent == 0 ? 1 : extent;
}

// Bytes of an array's elements, without the driver's padding.
template <class Descriptor>
std::uint64_t array_bytes(Descriptor const* d) {
    if (d == nullptr) return 0;
    std::uint64_t bytes = at_least_one(d->Width) * at_least_one(d->Height) * d->NumChannels * format_bytes(d->Format);
    if constexpr (requires { d->Depth; }) bytes *= at_least_one(d->Depth);
    return bytes;
}

template <class Copy>
std::uint64_t copy_target(Copy const* c) {
    if (c == nullptr) return 0;
    if (c->dstMemoryType == CU_MEMORYTYPE_HOST) return as_u64(c->dstHost);
    return c->dstMemoryType == CU_MEMORYTYPE_ARRAY ? as_u64(c->dstArray) : as_u64(c->dstDevice);
}
template <class Copy>
std::uint64_t copy_source(Copy const* c) {
    if (c == nullptr) return 0;
    if (c->srcMemoryType == CU_MEMORYTYPE_HOST) return as_u64(c->srcHost);
    return c->srcMemoryType == CU_MEMORYTYPE_ARRAY ? as_u64(c->srcArray) : as_u64(c->srcDevice);
}
template <class Copy>
std::uint64_t copy_bytes(Copy const* c) {
    if (c == nullptr) return 0;
    std::uint64_t bytes = as_u64(c->WidthInBytes) * c->Height;
    if constexpr (requires { c->Depth; }) bytes *= c->Depth;
    return bytes;
}

inline std::uint64_t sum(size_t const* sizes, size_t count) {
    std::uint64_t total = 0;
    for (size_t i = 0; i < count; ++i) total += sizes[i];
    return total;
}

}  // namespace lastref::preload::hooks
