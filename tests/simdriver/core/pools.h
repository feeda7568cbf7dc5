// Stream-ordered memory pools.
#pragma once

#include <map>
#include <vector>

#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/mapping.h"
#include "tests/simdriver/core/memory.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

// A block that was freed and that the pool keeps.
struct cached_block {
    std::uintptr_t base = 0;
    std::size_t size = 0;
    operation_ptr freed_by;  // the free's place in its stream
    std::weak_ptr<stream> freed_on;
    bool observed = false;  // a synchronization has seen the free complete: only now may the pool give it back
};

struct pool {
    CUmemoryPool handle = nullptr;
    device* owner = nullptr;
    CUmemPoolProps props{};
    bool is_default = false, destroyed = false;
    std::shared_ptr<owned_file> imported;  // of another process: the file its memory lies in
    std::uint64_t threshold = 0;
    std::uint64_t block_bytes = 0;  // live and cached blocks together
    std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
    int reuse_events = 1, reuse_opportunistic = 1, reuse_dependencies = 1;
    std::size_t live = 0;
    std::vector<cached_block> cached;
    std::map<int, CUmemAccess_flags> access;  // by device other than the owner
};

handle_table<CUmemoryPool, pool>& pools();

pool_ptr make_pool(device& owner, CUmemPoolProps const& props);
pool_ptr default_pool(device& owner);
pool_ptr current_pool(device& owner);

// Takes memory for an allocation that is ordered after the stream's work so far.
CUresult allocate_from(pool_ptr const& from, stream& on, std::size_t bytes, std::uintptr_t& out);
// Frees in the stream's order: the pointer is gone at once, the memory when the stream gets there.
void free_ordered(allocation_ptr const& gone, stream_ptr const& on);
// The block goes back to its pool when the operation has completed.
void return_to_pool(allocation_ptr const& gone, operation_ptr const& when, std::weak_ptr<stream> const& on);

// Gives cached blocks back until at most `keep` bytes are reserved; frees that no synchronization has seen complete
// stay.
void trim(pool& of, std::uint64_t keep);
// What a synchronization does: frees that are complete count as seen, and pools shrink to their release thresholds. One
// with a stream, or with an event recorded on it, sees that stream's frees only.
void settle_pools();
void settle_pools(stream const* only);
// The handle is gone at once, the memory when nothing is outstanding any more.
void destroy_pool(pool_ptr const& gone);

}  // namespace lastref::simdriver
