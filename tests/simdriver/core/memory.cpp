#include "tests/simdriver/core/memory.h"

#include <map>
#include <vector>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {
namespace {

constexpr std::size_t alignment = 512;

bool in_device_memory(memory_kind kind) {
    return kind == memory_kind::device || kind == memory_kind::managed;
}

bool ends_with_context(memory_kind kind) {
    return in_device_memory(kind) || kind == memory_kind::pinned || kind == memory_kind::registered;
}

}  // namespace

void memory_map::add(allocation_ptr const& made) {
    made->id = ++last_id_;
    by_base_[made->base] = made;
}

allocation_ptr memory_map::at(std::uintptr_t base) const {
    auto const found = by_base_.find(base);
    return found == by_base_.end() ? nullptr : found->second;
}

allocation_ptr memory_map::around(std::uintptr_t address) const {
    auto next = by_base_.upper_bound(address);
    if (next == by_base_.begin()) return nullptr;
    auto const& candidate = std::prev(next)->second;
    return address < candidate->base + candidate->size ? candidate : nullptr;
}

bool memory_map::covers(std::uintptr_t address, std::size_t bytes) const {
    auto const holder = around(address);
    return holder && address + bytes <= holder->base + holder->size;
}

bool memory_map::overlaps(std::uintptr_t address, std::size_t bytes) const {
    if (around(address)) return true;
    auto const next = by_base_.lower_bound(address);
    return next != by_base_.end() && next->first < address + bytes;
}

memory_map& memory() {
    static auto* const map = new memory_map;
    return *map;
}

arena& arena_of(device const& owner) {
    static auto* const arenas = new std::map<int, arena>;
    // Twice the memory, so that a fragmented arena never is the reason why an allocation fails.
    return arenas->try_emplace(owner.ordinal, driver().set.memory_bytes * 2).first->second;
}

arena& host_arena() {
    static auto* const pinned = new arena(std::size_t{16} << 30);
    return *pinned;
}

bool take_bytes(device& owner, std::size_t bytes) {
    if (bytes > driver().set.memory_bytes - owner.used_bytes) return false;
    owner.used_bytes += bytes;
    return true;
}

void give_bytes(device& owner, std::size_t bytes) {
    owner.used_bytes -= bytes;
}

CUresult allocate(context& in, memory_kind kind, std::size_t bytes, unsigned flags, std::uintptr_t& out) {
    auto made = std::make_shared<allocation>();
    made->size = bytes;
    made->reserved = round_up(bytes, alignment);
    made->kind = kind;
    made->flags = flags;
    made->owner = in.owner;
    made->made_in = in.weak_from_this();
    if (bytes > driver().set.memory_bytes || (in_device_memory(kind) && !take_bytes(*in.owner, made->reserved)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->base = (in_device_memory(kind) ? arena_of(*in.owner) : host_arena()).allocate(made->reserved, alignment);
    if (!made->base) {
        if (in_device_memory(kind)) give_bytes(*in.owner, made->reserved);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory().add(made);
    out = made->base;
    return CUDA_SUCCESS;
}

void release(allocation const& gone) {
    std::uintptr_t const base = gone.base;
    if (in_device_memory(gone.kind)) {
        give_bytes(*gone.owner, gone.reserved);
        arena_of(*gone.owner).release(base);
    } else if (gone.kind == memory_kind::pinned) {
        host_arena().release(base);
    }
    memory().remove(base);
}

void free_memory_of(context const& ending) {
    std::vector<allocation_ptr> gone;
    memory().for_each([&](allocation_ptr const& each) {
        if (ends_with_context(each->kind) && each->made_in.lock().get() == &ending) gone.push_back(each);
    });
    for (auto const& each : gone) release(*each);
}

}  // namespace lastref::simdriver
