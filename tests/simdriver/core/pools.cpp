#include "tests/simdriver/core/pools.h"

#include <algorithm>
#include <set>

#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/streams.h"

namespace lastref::simdriver {
namespace {

constexpr std::size_t alignment = 512;
constexpr std::uint64_t chunk = 32 << 20;  // pools grow and shrink by this much

// Reserves what the blocks need, in chunks; false when the device has no more.
bool reserve(pool& of) {
    std::uint64_t const wanted = round_up(of.block_bytes, chunk);
    if (wanted > of.reserved && !take_bytes(*of.owner, wanted - of.reserved)) return false;
    if (wanted < of.reserved) give_bytes(*of.owner, of.reserved - wanted);
    of.reserved = wanted;
    of.reserved_high = std::max(of.reserved_high, of.reserved);
    return true;
}

// Whether `later` waits for `earlier`, over however many operations that are still due.
bool leads_to(operation_ptr const& earlier, operation_ptr const& later) {
    std::vector<operation_ptr> open{earlier};
    std::set<operation_ptr> seen;
    while (!open.empty()) {
        operation_ptr const at = open.back();
        open.pop_back();
        if (at == later) return true;
        for (auto const& each : at->next)
            if (seen.insert(each).second) open.push_back(each);
    }
    return false;
}

bool usable(pool const& from, cached_block const& block, stream const& on, std::size_t bytes) {
    if (block.size != bytes) return false;
    if (block.freed_by->done || block.freed_on.lock().get() == &on) return true;
    return from.reuse_events && on.last && leads_to(block.freed_by, on.last);
}

std::uintptr_t reuse(pool& from, stream const& on, std::size_t bytes) {
    // The newest first: a loop that allocates and frees gets the same address each time.
    auto const found = std::find_if(from.cached.rbegin(), from.cached.rend(),
                                    [&](cached_block const& each) { return usable(from, each, on, bytes); });
    if (found == from.cached.rend()) return 0;
    std::uintptr_t const base = found->base;
    from.cached.erase(std::next(found).base());
    return base;
}

std::uintptr_t grow(pool& from, std::size_t bytes) {
    if (from.props.maxSize && round_up(from.block_bytes + bytes, chunk) > round_up(from.props.maxSize, chunk)) return 0;
    from.block_bytes += bytes;
    if (!reserve(from)) {
        from.block_bytes -= bytes;
        return 0;
    }
    return arena_of(*from.owner).allocate(bytes, alignment);
}

void drop_block(pool& of, cached_block const& block) {
    arena_of(*of.owner).release(block.base);
    of.block_bytes -= block.size;
}

void freed(pool& of) {
    --of.live;
    if (of.destroyed && of.live == 0) trim(of, 0);
}

}  // namespace

handle_table<CUmemoryPool, pool>& pools() {
    static auto* const table = new handle_table<CUmemoryPool, pool>;
    return *table;
}

pool_ptr make_pool(device& owner, CUmemPoolProps const& props) {
    auto made = std::make_shared<pool>();
    made->owner = &owner;
    made->props = props;
    pools().add(made);
    return made;
}

pool_ptr default_pool(device& owner) {
    if (owner.default_pool) return owner.default_pool;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, owner.ordinal};
    owner.default_pool = make_pool(owner, props);
    owner.default_pool->is_default = true;
    return owner.default_pool;
}

pool_ptr current_pool(device& owner) {
    return owner.current_pool ? owner.current_pool : default_pool(owner);
}

CUresult allocate_from(pool_ptr const& from, stream& on, std::size_t bytes, std::uintptr_t& out) {
    auto made = std::make_shared<allocation>();
    made->size = bytes;
    made->reserved = round_up(bytes, alignment);
    made->base = reuse(*from, on, made->reserved);
    if (!made->base) made->base = grow(*from, made->reserved);
    if (!made->base) return CUDA_ERROR_OUT_OF_MEMORY;
    made->kind = memory_kind::pool;
    made->owner = from->owner;
    made->made_in = on.owner;
    made->from = from;
    from->used += bytes;  // as asked for, measured
    from->used_high = std::max(from->used_high, from->used);
    ++from->live;
    memory().add(made);
    submit(on, std::make_shared<operation>());
    out = made->base;
    return CUDA_SUCCESS;
}

void free_ordered(allocation_ptr const& gone, stream_ptr const& on) {
    memory().remove(gone->base);
    auto const work = std::make_shared<operation>();
    return_to_pool(gone, work, on);
    submit(*on, work);
}

void return_to_pool(allocation_ptr const& gone, operation_ptr const& when, std::weak_ptr<stream> const& on) {
    pool_ptr const from = gone->from;
    if (from->imported) {  // only this process's mapping ends
        when->completed = [from, gone] { --from->live; };
        return;
    }
    // Measured: it counts as unused from the call on, whenever the stream gets there.
    from->used -= gone->size;
    from->cached.push_back({gone->base, gone->reserved, when, on});
    when->completed = [from] { freed(*from); };
}

void trim(pool& of, std::uint64_t keep) {
    auto& cached = of.cached;
    for (auto each = cached.begin(); each != cached.end();) {
        bool const may_go = of.destroyed ? each->freed_by->done : each->observed;
        if (round_up(of.block_bytes, chunk) <= keep) break;
        if (may_go) drop_block(of, *each);
        each = may_go ? cached.erase(each) : std::next(each);
    }
    reserve(of);
}

void settle_pools() {
    settle_pools(nullptr);
}

void settle_pools(stream const* only) {
    pools().for_each([only](pool_ptr const& each) {
        for (auto& block : each->cached) {
            stream_ptr const on = block.freed_on.lock();
            bool const seen = !only || !on || on.get() == only;
            block.observed = block.observed || (seen && block.freed_by->done);
        }
        if (each->reserved > each->threshold) trim(*each, each->threshold);
    });
}

void destroy_pool(pool_ptr const& gone) {
    pools().remove(gone->handle);
    gone->destroyed = true;
    if (gone->owner->current_pool == gone) gone->owner->current_pool = nullptr;
    if (gone->live == 0) trim(*gone, 0);
}

}  // namespace lastref::simdriver
