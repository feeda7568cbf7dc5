// Allocations of every kind, found by address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tests/simdriver/core/arena.h"
#include "tests/simdriver/core/call.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

enum class memory_kind { device, managed, pinned, registered, pool, graph, mapping, imported, external };

struct allocation {
    std::uintptr_t base = 0;
    std::size_t size = 0;      // as asked for
    std::size_t reserved = 0;  // as accounted for
    memory_kind kind = memory_kind::device;
    std::uint64_t id = 0;  // CU_POINTER_ATTRIBUTE_BUFFER_ID: unique for the life of the process
    device* owner = nullptr;
    std::weak_ptr<context> made_in;
    unsigned flags = 0;
    pool_ptr from;                // memory_kind::pool
    std::shared_ptr<void> keeps;  // what must live as long: the graph memory, the mapped handle
    bool sync_memops = false;
    bool permanent = false;                   // a variable of a module: goes with that only
    std::map<int, CUmemAccess_flags> access;  // memory_kind::mapping, by device
    // memory_kind::imported: how often it was opened, and what it is in the process that exported it.
    unsigned opened = 1;
    std::uint64_t foreign_id = 0;
    int foreign_process = 0;
};
using allocation_ptr = std::shared_ptr<allocation>;

class memory_map {
  public:
    void add(allocation_ptr const& made);
    // The allocation that starts exactly there; the one that the address lies in.
    allocation_ptr at(std::uintptr_t base) const;
    allocation_ptr around(std::uintptr_t address) const;
    // Whether [address, address + bytes) lies in one allocation.
    bool covers(std::uintptr_t address, std::size_t bytes) const;
    bool overlaps(std::uintptr_t address, std::size_t bytes) const;
    void remove(std::uintptr_t base) { by_base_.erase(base); }

    template <class Visit>
    void for_each(Visit visit) const {
        for (auto const& [base, each] : by_base_) visit(each);
    }

  private:
    std::map<std::uintptr_t, allocation_ptr> by_base_;
    std::uint64_t last_id_ = 0;
};

memory_map& memory();
arena& arena_of(device const& owner);
arena& host_arena();

constexpr std::size_t round_up(std::size_t value, std::size_t to) {
    return (value + to - 1) / to * to;
}

// Counts bytes against the device's memory: false, and nothing counted, when it does not have them.
bool take_bytes(device& owner, std::size_t bytes);
void give_bytes(device& owner, std::size_t bytes);

// Makes device, managed or pinned memory and enters it in the map.
CUresult allocate(context& in, memory_kind kind, std::size_t bytes, unsigned flags, std::uintptr_t& out);
// Takes it out of the map and gives its bytes back.
void release(allocation const& gone);
// What cuCtxDestroy frees: ordinary allocations, not stream-ordered ones.
void free_memory_of(context const& ending);

}  // namespace lastref::simdriver
