// The null driver: every entry point of both tables returns success at once. Where an entry point makes or names an
// object, its first output gets a value that no other has; the destructor of a user object runs inside the release of
// its last reference.
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "schema/event_kind.h"
#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/abi/exports.h"
#include "tests/simdriver/abi/lookup.h"

namespace lastref::nulldriver {
namespace {

// Values are drawn per thread, or the counter would be what a benchmark of eight threads measures.
std::uint64_t next_value() {
    static std::atomic<std::uint64_t> threads{0};
    static thread_local std::uint64_t value = 0;
    if (!value) value = 0x0b0000000000 + (++threads << 32);
    return value += 0x200;
}

template <class Argument>
constexpr bool is_output = false;
template <class Pointee>
constexpr bool is_output<Pointee*> =
    !std::is_const_v<Pointee> && (std::is_pointer_v<Pointee> || std::is_same_v<Pointee, CUdeviceptr>);

template <class Argument>
bool fill(Argument argument) {
    if constexpr (is_output<Argument>) {
        if (argument) *argument = (std::remove_pointer_t<Argument>)next_value();
        return true;
    } else {
        return false;
    }
}

// Writes the first of the arguments that is an output.
template <class... Arguments>
void fill_first(Arguments... arguments) {
    (void)(fill(arguments) || ...);
}

constexpr bool hands_out(event_kind kind) {
    switch (kind) {
        case event_kind::pool_get:
        case event_kind::context_query:
        case event_kind::graph_child_get:
            return true;
        default:
            return info(kind).verb == "create" || info(kind).verb == "retain";
    }
}

struct user_object {
    void* payload;
    CUhostFn destroy;
    unsigned references;
};

}  // namespace

// Entry points that do a little more. Weak: what is not defined below is made from the table alone.
#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) CUresult symbol parameters __attribute__((weak));
#include "tests/simdriver/abi/every_abi.h"

CUresult cuUserObjectCreate(CUuserObject* out, void* payload, CUhostFn destroy, unsigned int count, unsigned int) {
    *out = reinterpret_cast<CUuserObject>(new user_object{payload, destroy, count});
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
    reinterpret_cast<user_object*>(object)->references += count;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
    auto* const held = reinterpret_cast<user_object*>(object);
    if ((held->references -= count) == 0) {
        held->destroy(held->payload);
        delete held;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph, CUuserObject, unsigned int, unsigned int) {
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult, char const** text) {
    *text = "CUDA_SUCCESS";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, char const** text) {
    *text = "no error";
    return CUDA_SUCCESS;
}

CUresult cuGetExportTable(void const** table, CUuuid const*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(char const* symbol, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    auto const found = simdriver::look_up(symbol, version, flags);
    *address = found.address;
    if (status) *status = found.address ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return found.address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(char const* symbol, void** address, int version, cuuint64_t flags) {
    return nulldriver::cuGetProcAddress_v2(symbol, address, version, flags, nullptr);
}

}  // namespace lastref::nulldriver

#define NULL_ENTRY(symbol, kind, parameters, arguments)                                 \
    extern "C" __attribute__((visibility("default"))) CUresult symbol parameters {      \
        if (&lastref::nulldriver::symbol) return lastref::nulldriver::symbol arguments; \
        if constexpr (lastref::nulldriver::hands_out(lastref::event_kind::kind))        \
            lastref::nulldriver::fill_first arguments;                                  \
        return CUDA_SUCCESS;                                                            \
    }
#define LASTREF_ABI(name, symbol, streams, kind, style, parameters, arguments, ...) \
    NULL_ENTRY(symbol, kind, parameters, arguments)
#include "collector/preload/hooks/expand.h"

#define SIMDRIVER_OTHER_ABI(name, symbol, streams, parameters, arguments) \
    NULL_ENTRY(symbol, driver_init, parameters, arguments)
#include "tests/simdriver/abi/other_abi.h"

namespace lastref::simdriver {

void* exported_address(symbol_id id) {
    static void* const addresses[] = {
#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) reinterpret_cast<void*>(&::symbol),
#include "tests/simdriver/abi/every_abi.h"
    };
    return addresses[static_cast<std::size_t>(id)];
}

}  // namespace lastref::simdriver
