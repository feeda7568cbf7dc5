#include "tests/simdriver/core/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace lastref::simdriver {
namespace {

constexpr std::size_t page = 4096;

std::size_t round_up(std::size_t value, std::size_t to) {
    return (value + to - 1) / to * to;
}

}  // namespace

arena::arena(std::size_t bytes) : file_(memfd_create("simdriver", MFD_CLOEXEC)) {
    for (size_ = bytes; size_ >= (std::size_t{64} << 20); size_ /= 2) {
        if (ftruncate(file_, static_cast<off_t>(size_)) != 0) continue;
        void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
        if (at == MAP_FAILED) continue;
        base_ = reinterpret_cast<std::uintptr_t>(at);
        free_.emplace(base_, size_);
        return;
    }
}

std::uintptr_t arena::allocate(std::size_t bytes, std::size_t alignment) {
    for (auto const& hole : free_) {
        std::uintptr_t const start = hole.first, end = start + hole.second;
        std::uintptr_t const at = round_up(start, alignment);
        if (at + bytes > end) continue;
        free_.erase(start);
        if (at > start) free_.emplace(start, at - start);
        if (at + bytes < end) free_.emplace(at + bytes, end - at - bytes);
        used_.emplace(at, bytes);
        return at;
    }
    return 0;
}

void arena::release(std::uintptr_t base) {
    auto const found = used_.find(base);
    if (found == used_.end()) return;
    std::size_t const bytes = found->second;
    used_.erase(found);
    // Give whole pages back, or a long test would fill the machine's memory.
    std::uintptr_t const first = round_up(base, page), last = (base + bytes) / page * page;
    if (last > first)
        (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first - base_),
                        static_cast<off_t>(last - first));
    insert_free(base, bytes);
}

void arena::insert_free(std::uintptr_t at, std::size_t bytes) {
    auto const after = free_.lower_bound(at);
    if (after != free_.end() && at + bytes == after->first) {
        bytes += after->second;
        free_.erase(after);
    }
    auto const next = free_.lower_bound(at);
    if (next != free_.begin()) {
        auto const before = std::prev(next);
        if (before->first + before->second == at) {
            before->second += bytes;
            return;
        }
    }
    free_.emplace(at, bytes);
}

}  // namespace lastref::simdriver
