#include "tests/simdriver/core/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/simdriver/core/memory.h"

namespace lastref::simdriver {
namespace {

void* as_pointer(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

// The address range stays the driver's when nothing is mapped there.
bool keep_reserved(std::uintptr_t at, std::size_t bytes) {
    return mmap(as_pointer(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

}  // namespace

physical_memory::~physical_memory() {
    if (owner) give_bytes(*owner, size);
}

handle_table<CUmemGenericAllocationHandle, physical_memory>& physical_memories() {
    static auto* const table = new handle_table<CUmemGenericAllocationHandle, physical_memory>;
    return *table;
}

std::map<std::uintptr_t, std::size_t>& address_ranges() {
    static auto* const ranges = new std::map<std::uintptr_t, std::size_t>;
    return *ranges;
}

physical_ptr make_physical(device& owner, std::size_t bytes, CUmemAllocationProp const& props) {
    owned_file file(memfd_create("simdriver-physical", MFD_CLOEXEC));
    if (!file.valid() || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || !take_bytes(owner, bytes))
        return nullptr;
    auto made = std::make_shared<physical_memory>(std::move(file));
    made->owner = &owner;
    made->size = bytes;
    made->props = props;
    physical_memories().add(made);
    return made;
}

physical_ptr import_physical(device& owner, int file) {
    owned_file copy(dup(file));
    std::size_t const bytes = copy.valid() ? file_size(copy.get()) : 0;
    if (!bytes || bytes % granularity) return nullptr;
    auto made = std::make_shared<physical_memory>(std::move(copy));
    made->size = bytes;
    made->props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made->props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made->props.location.id = owner.ordinal;
    physical_memories().add(made);
    return made;
}

std::uintptr_t reserve_addresses(std::size_t bytes, std::size_t alignment) {
    void* const start = mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return 0;
    auto const first = reinterpret_cast<std::uintptr_t>(start);
    std::uintptr_t const base = round_up(first, alignment);
    if (base > first) munmap(start, base - first);
    if (first + alignment > base) munmap(as_pointer(base + bytes), first + alignment - base);
    address_ranges()[base] = bytes;
    return base;
}

void free_addresses(std::uintptr_t base, std::size_t bytes) {
    munmap(as_pointer(base), bytes);
    address_ranges().erase(base);
}

bool inside_range(std::uintptr_t address, std::size_t bytes) {
    auto const next = address_ranges().upper_bound(address);
    if (next == address_ranges().begin()) return false;
    auto const& [base, size] = *std::prev(next);
    return address + bytes <= base + size;
}

bool map_physical(std::uintptr_t at, physical_ptr const& physical) {
    void* const mapped = mmap(as_pointer(at), physical->size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_NORESERVE | MAP_FIXED, physical->file.get(), 0);
    if (mapped == MAP_FAILED) return false;
    auto made = std::make_shared<allocation>();
    made->base = at;
    made->size = made->reserved = physical->size;
    made->kind = memory_kind::mapping;
    made->owner = physical->owner;
    made->keeps = physical;
    memory().add(made);
    return true;
}

void unmap_physical(std::uintptr_t at, std::size_t bytes) {
    keep_reserved(at, bytes);
    memory().remove(at);
}

physical_ptr mapped_at(std::uintptr_t address) {
    auto const held = memory().around(address);
    if (!held || held->kind != memory_kind::mapping) return nullptr;
    return std::static_pointer_cast<physical_memory>(held->keeps);
}

}  // namespace lastref::simdriver
