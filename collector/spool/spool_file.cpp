#include "collector/spool/spool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "collector/spool/grow.h"

namespace lastref::spool {
namespace {

// A cap that a damaged header may name must not make us reserve absurd stretches of address space.
constexpr std::uint64_t most_address_space = std::uint64_t{1} << 40;

std::string describe(open_failure failure) {
    switch (failure) {
        case open_failure::none:
            return {};
        case open_failure::missing:
            return std::strerror(errno);
        case open_failure::locked:
            return "is being drained by another process";
        case open_failure::not_a_spool:
            return "is not a spool of lastref, or is cut off in its header";
        case open_failure::not_ready:
            return "was never completed: the program ended while it was being created";
        case open_failure::wrong_version:
            return "was written by another version of lastref";
    }
    return {};
}

}  // namespace

spool_file::result spool_file::open(std::filesystem::path const& path, access how) {
    spool_file file;
    file.path_ = path;
    file.how_ = how;
    int const flags = (how == access::read_write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file.fd_ = ::open(path.c_str(), flags);
    open_failure failure = open_failure::missing;
    if (file.fd_ >= 0) failure = file.map(file.fd_);
    if (failure != open_failure::none) return {std::nullopt, failure, describe(failure)};
    return {std::move(file), failure, {}};
}

open_failure spool_file::map(int fd) {
    struct stat status;
    if (fstat(fd, &status)) return open_failure::missing;
    if (!S_ISREG(status.st_mode)) return open_failure::not_a_spool;
    auto const size = static_cast<std::size_t>(status.st_size);
    shared_->file_size.store(size, std::memory_order_relaxed);
    inode_ = status.st_ino;
    if (size < header_bytes + thread_slots_bytes) return open_failure::not_a_spool;

    spool_identity claimed{};
    if (pread(fd, &claimed.max_bytes, sizeof claimed.max_bytes, offsetof(spool_header, max_bytes)) < 0)
        return open_failure::missing;
    // Two drains of one spool would both write its records.
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return open_failure::locked;

    bool const write = how_ == access::read_write;
    mapped_ = size;
    if (write) mapped_ = std::max<std::size_t>(mapped_, std::min(claimed.max_bytes, most_address_space));
    void* const address = mmap(nullptr, mapped_, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) return open_failure::missing;
    base_ = address;
    return check_header();
}

open_failure spool_file::check_header() {
    auto& head = header();
    if (head.ready.load(std::memory_order_acquire) != 1)
        return head.magic == file_magic || head.magic == 0 ? open_failure::not_ready : open_failure::not_a_spool;
    if (head.magic != file_magic) return open_failure::not_a_spool;
    bool const same_layout = head.version == format_version && head.header_size == header_bytes &&
                             head.thread_slots_size == thread_slots_bytes && head.segment_bytes == segment_size;
    bool const known_clock = head.clock == clock_kind::monotonic_ns || head.clock == clock_kind::tsc;
    if (!same_layout || !known_clock) return open_failure::wrong_version;
    identity_ = {.pid = head.pid,
                 .parent_pid = head.parent_pid,
                 .process_start = head.process_start,
                 .wall_clock_ns = head.wall_clock_ns,
                 .first_ticks = head.first_clock.ticks.load(std::memory_order_relaxed),
                 .first_monotonic_ns = head.first_clock.monotonic_ns.load(std::memory_order_relaxed),
                 .table_hash = head.table_hash,
                 .max_bytes = head.max_bytes,
                 .clock = head.clock,
                 .stacks = std::min(head.stacks, 2u)};
    return open_failure::none;
}

spool_file::spool_file(spool_file&& other) noexcept {
    *this = std::move(other);
}

spool_file& spool_file::operator=(spool_file&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(how_, other.how_);
    std::swap(fd_, other.fd_);
    std::swap(base_, other.base_);
    std::swap(mapped_, other.mapped_);
    std::swap(inode_, other.inode_);
    std::swap(identity_, other.identity_);
    std::swap(shared_, other.shared_);
    return *this;
}

spool_file::~spool_file() {
    if (base_) munmap(base_, mapped_);
    if (fd_ >= 0) close(fd_);
}

std::uint32_t spool_file::segments() {
    std::uint32_t const promised = header().segments.load(std::memory_order_acquire);
    // Of a process that is gone everything counts that lies there, whatever the header says: it may have been damaged.
    if (!writable()) return static_cast<std::uint32_t>((mapped_ - segment_offset(0)) / segment_size);
    auto const held = [this](std::size_t size) { return (std::min(size, mapped_) - segment_offset(0)) / segment_size; };
    std::size_t size = shared_->file_size.load(std::memory_order_relaxed);
    if (struct stat status; promised > held(size) && fstat(fd_, &status) == 0) {
        size = static_cast<std::size_t>(status.st_size);
        shared_->file_size.store(size, std::memory_order_relaxed);
    }
    return static_cast<std::uint32_t>(std::min<std::size_t>(promised, held(size)));
}

std::uint32_t spool_file::segments_missing() {
    std::uint32_t const promised = header().segments.load(std::memory_order_acquire), held = segments();
    return promised > held ? promised - held : 0;
}

segment_header* spool_file::segment(std::uint32_t index) {
    return index < segments() ? segment_at(base_, index) : nullptr;
}

std::uint32_t spool_file::thread_slots_used() const {
    return std::min(header().thread_slots_used.load(std::memory_order_acquire), max_threads);
}

void spool_file::recycle_segment(std::uint32_t index) {
    if (!writable() || index >= segments()) return;
    {
        std::lock_guard const lock(shared_->mutex);
        if (index < shared_->is_cold.size() && shared_->is_cold[index]) {
            segment_at(base_, index)->committed.store(0, std::memory_order_relaxed);
            shared_->free_cold.push_back(index);
            return;
        }
    }
    recycle(base_, index);
}

std::uint32_t spool_file::free_segments() const {
    std::int32_t const count = header().free_segments.load(std::memory_order_relaxed);
    return count > 0 ? static_cast<std::uint32_t>(count) : 0;
}

std::uint32_t spool_file::grow_by_one() {
    return writable() ? grow(base_, fd_, std::min<std::uint64_t>(identity_.max_bytes, mapped_)) : no_segment;
}

std::uint32_t spool_file::reuse_cold_segment(bool for_a_copy) {
    std::lock_guard const lock(shared_->mutex);
    if (shared_->free_cold.empty()) return no_segment;
    std::uint32_t const index = shared_->free_cold.back();
    shared_->free_cold.pop_back();
    shared_->is_cold[index] = for_a_copy;
    return index;
}

std::uint32_t spool_file::take_cold_segment() {
    if (std::uint32_t const used = reuse_cold_segment(true); used != no_segment) return used;
    std::uint32_t const index = grow_by_one();
    if (index == no_segment) return no_segment;
    std::lock_guard const lock(shared_->mutex);
    if (shared_->is_cold.size() <= index) shared_->is_cold.resize(index + std::size_t{1});
    shared_->is_cold[index] = true;
    return index;
}

bool spool_file::add_free_segment() {
    std::uint32_t index = grow_by_one();
    if (index != no_segment)
        touch_segment(base_, index);
    else  // at the cap the program is better off with one that costs it page faults than with none
        index = reuse_cold_segment(false);
    if (index == no_segment) return false;
    push_free(base_, index);
    return true;
}

}  // namespace lastref::spool
