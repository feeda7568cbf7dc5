// Memory shared between processes: legacy IPC handles, exported pools and pointers, external memory.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/simdriver/api/common.h"
#include "tests/simdriver/core/mapping.h"

namespace lastref::simdriver {
namespace {

// What the opaque 64 bytes of a handle hold: where another process finds the memory.
struct shared_place {
    std::uint64_t magic = 0x646e6168706d6973;
    pid_t process = 0;
    int file = -1;
    std::uint64_t offset = 0, size = 0, id = 0;
};
static_assert(sizeof(shared_place) <= CU_IPC_HANDLE_SIZE && sizeof(shared_place) <= sizeof(CUmemPoolPtrExportData));

shared_place place_of(allocation const& held) {
    arena const& where = arena_of(*held.owner);
    shared_place place;
    place.process = getpid();
    place.file = where.file();
    place.offset = held.base - where.base();
    place.size = held.size;
    place.id = held.id;
    return place;
}

template <class Opaque>
bool read_place(Opaque const& from, shared_place& out) {
    shared_place const expected;
    std::memcpy(static_cast<void*>(&out), &from, sizeof out);
    return out.magic == expected.magic;
}

owned_file open_file_of(shared_place const& place) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.process, place.file);
    return owned_file(open(path, O_RDWR | O_CLOEXEC));
}

allocation_ptr opened_before(shared_place const& place) {
    allocation_ptr found;
    memory().for_each([&](allocation_ptr const& each) {
        if (each->kind == memory_kind::imported && each->foreign_id == place.id &&
            each->foreign_process == place.process)
            found = each;
    });
    return found;
}

allocation_ptr import_memory(context const& into, int file, shared_place const& place) {
    auto const mapped = mapping::of_file(file, place.offset, place.size);
    if (!mapped) return nullptr;
    auto made = std::make_shared<allocation>();
    made->base = mapped->address();
    made->size = made->reserved = place.size;
    made->kind = memory_kind::imported;
    made->owner = into.owner;
    made->foreign_id = place.id;
    made->foreign_process = place.process;
    made->keeps = mapped;
    memory().add(made);
    return made;
}

allocation_ptr imported_before(pool const& into, shared_place const& place) {
    allocation_ptr found;
    memory().for_each([&](allocation_ptr const& each) {
        if (each->from.get() == &into && each->foreign_id == place.id) found = each;
    });
    return found;
}

bool exportable(pool const& of) {
    return of.props.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

}  // namespace

struct external_memory {
    CUexternalMemory handle = nullptr;
    owned_file file;
    std::size_t size = 0;
    explicit external_memory(owned_file backing) : file(std::move(backing)) {}
};

namespace {

handle_table<CUexternalMemory, external_memory>& external_memories() {
    static auto* const table = new handle_table<CUexternalMemory, external_memory>;
    return *table;
}

}  // namespace

namespace api {

CUresult cuIpcGetMemHandle(call const&, CUipcMemHandle* out, CUdeviceptr address) {
    auto const held = memory().around(address);
    if (!out || !held || held->kind != memory_kind::device) return CUDA_ERROR_INVALID_VALUE;
    shared_place const place = place_of(*held);
    *out = {};
    std::memcpy(out, &place, sizeof place);
    return CUDA_SUCCESS;
}

// Opened again, the same address is returned and counted. The exporting process itself cannot open its handle.
CUresult cuIpcOpenMemHandle(call const& c, CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
    context_ptr current;
    shared_place place;
    if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    if (!read_place(handle, place)) return CUDA_ERROR_INVALID_VALUE;
    if (place.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    auto held = opened_before(place);
    if (held) {
        ++held->opened;
    } else {
        owned_file const file = open_file_of(place);
        held = file.valid() ? import_memory(*current, file.get(), place) : nullptr;
    }
    if (!held) return CUDA_ERROR_MAP_FAILED;
    *out = held->base;
    return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(call const& c, CUdeviceptr address) {
    auto const held = memory().at(address);
    if (!held || held->kind != memory_kind::imported) return CUDA_ERROR_INVALID_VALUE;
    if (--held->opened) return CUDA_SUCCESS;
    synchronize(c, *held->owner);
    memory().remove(address);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportToShareableHandle(call const&, void* out, CUmemoryPool handle, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
    auto const of = pools().find(handle);
    if (!out || !of || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !exportable(*of))
        return CUDA_ERROR_INVALID_VALUE;
    *static_cast<int*>(out) = fcntl(arena_of(*of->owner).file(), F_DUPFD_CLOEXEC, 0);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(call const& c, CUmemoryPool* out, void* handle,
                                            CUmemAllocationHandleType type, unsigned long long flags) {
    context_ptr current;
    if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    auto const file = std::make_shared<owned_file>(dup(static_cast<int>(reinterpret_cast<std::intptr_t>(handle))));
    if (!file->valid()) return CUDA_ERROR_INVALID_VALUE;
    CUmemPoolProps props = default_pool(*current->owner)->props;
    auto const made = make_pool(*current->owner, props);
    made->imported = file;
    *out = made->handle;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(call const&, CUmemPoolPtrExportData* out, CUdeviceptr address) {
    auto const held = memory().at(address);
    if (!out || !held || !held->from || held->from->imported || !exportable(*held->from))
        return CUDA_ERROR_INVALID_VALUE;
    shared_place const place = place_of(*held);
    *out = {};
    std::memcpy(out, &place, sizeof place);
    return CUDA_SUCCESS;
}

// The importer frees it as its own stream-ordered memory, and must do so before the exporter.
CUresult cuMemPoolImportPointer(call const&, CUdeviceptr* out, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
    shared_place place;
    auto const into = pools().find(handle);
    if (any_null(out, data) || !into || !into->imported || !read_place(*data, place)) return CUDA_ERROR_INVALID_VALUE;
    if (auto const held = imported_before(*into, place)) {
        *out = held->base;
        return CUDA_SUCCESS;
    }
    auto const mapped = mapping::of_file(into->imported->get(), place.offset, place.size);
    if (!mapped) return CUDA_ERROR_MAP_FAILED;
    auto made = std::make_shared<allocation>();
    made->base = mapped->address();
    made->size = made->reserved = place.size;
    made->foreign_id = place.id;
    made->kind = memory_kind::pool;
    made->owner = into->owner;
    made->from = into;
    made->keeps = mapped;
    ++into->live;
    memory().add(made);
    *out = made->base;
    return CUDA_SUCCESS;
}

// External memory is taken from a file descriptor, which becomes the driver's.
CUresult cuImportExternalMemory(call const&, CUexternalMemory* out, CUDA_EXTERNAL_MEMORY_HANDLE_DESC const* from) {
    if (any_null(out, from) || !from->size) return CUDA_ERROR_INVALID_VALUE;
    if (from->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
    if (file_size(from->handle.fd) < from->size) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<external_memory>(owned_file(from->handle.fd));
    made->size = from->size;
    *out = external_memories().add(made);
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(call const& c, CUdeviceptr* out, CUexternalMemory handle,
                                         CUDA_EXTERNAL_MEMORY_BUFFER_DESC const* what) {
    context_ptr current;
    auto const from = external_memories().find(handle);
    if (any_null(out, what) || !from || what->offset + what->size > from->size) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    auto const mapped = mapping::of_file(from->file.get(), what->offset, what->size);
    if (!mapped) return CUDA_ERROR_MAP_FAILED;
    auto made = std::make_shared<allocation>();
    made->base = mapped->address();
    made->size = made->reserved = what->size;
    made->kind = memory_kind::external;
    made->owner = current->owner;
    made->keeps = mapped;
    memory().add(made);
    *out = made->base;
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(call const&, CUexternalMemory handle) {
    return external_memories().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace api
}  // namespace lastref::simdriver
