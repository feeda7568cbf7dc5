// Virtual memory management: physical memory, address ranges, and the mappings between them.
#pragma once

#include <map>
#include <memory>

#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/mapping.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

constexpr std::size_t granularity = 2 << 20;

// Lives as long as its handle or a mapping of it.
struct physical_memory {
    CUmemGenericAllocationHandle handle = 0;  // 0 when all references on the handle are released
    CUmemAllocationProp props{};
    device* owner = nullptr;
    std::size_t size = 0;
    unsigned references = 1;
    owned_file file;

    explicit physical_memory(owned_file backing) : file(std::move(backing)) {}
    physical_memory(physical_memory const&) = delete;
    physical_memory& operator=(physical_memory const&) = delete;
    ~physical_memory();
};
using physical_ptr = std::shared_ptr<physical_memory>;

handle_table<CUmemGenericAllocationHandle, physical_memory>& physical_memories();
// Size by start address.
std::map<std::uintptr_t, std::size_t>& address_ranges();

// Null when the device has no such memory left.
physical_ptr make_physical(device& owner, std::size_t bytes, CUmemAllocationProp const& props);
physical_ptr import_physical(device& owner, int file);

std::uintptr_t reserve_addresses(std::size_t bytes, std::size_t alignment);
void free_addresses(std::uintptr_t base, std::size_t bytes);
bool inside_range(std::uintptr_t address, std::size_t bytes);

// Puts the physical memory there; what the map of allocations then holds keeps it alive.
bool map_physical(std::uintptr_t at, physical_ptr const& memory);
void unmap_physical(std::uintptr_t at, std::size_t bytes);
// The physical memory mapped around the address; null where there is none.
physical_ptr mapped_at(std::uintptr_t address);

}  // namespace lastref::simdriver
