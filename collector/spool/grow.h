// Growing a spool by one segment: the one function that the recorded program (when the free list is empty) and the
// drain (ahead of the program) both use. System calls and <atomic> only, nothing that needs libstdc++ at run time.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cerrno>

#include "collector/spool/free_list.h"

namespace lastref::spool {

// Reserves the bytes [offset, offset + segment_size) of the file, so that writing to them through the mapping cannot
// meet a full disk (which would be SIGBUS in the program). Where the file system cannot reserve, zeros are appended
// until the file is long enough: appending touches only bytes that are behind the file's end and so in nobody's hands,
// and never cuts, whoever else is growing at the same time.
inline bool reserve_segment(int fd, std::uint64_t offset) {
    int failed;
    do {
        failed = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(segment_size));
    } while (failed && errno == EINTR);
    if (!failed) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;

    static char const zeros[page] = {};
    iovec pages[segment_size / page];
    for (auto& one : pages) one = {const_cast<char*>(zeros), page};
    for (;;) {
        off_t const size = lseek(fd, 0, SEEK_END);  // fstat has another version in every glibc
        if (size < 0) return false;
        if (size >= static_cast<off_t>(offset + segment_size)) return true;
        if (pwritev2(fd, pages, segment_size / page, 0, RWF_APPEND) <= 0 && errno != EINTR) return false;
    }
}

// Adds a segment to the file and returns its index; the caller owns it. Returns no_segment when the spool has reached
// `max_bytes` or the disk is full; errno is then ENOSPC, EFBIG or what fallocate said. The segment's pages read as
// zero.
//
// The range is reserved before it is claimed: an index below `spool_header::segments` always lies inside the file. Two
// that grow at once reserve the same range, one of them claims it, and the other goes on with the next.
inline std::uint32_t grow(void* base, int fd, std::uint64_t max_bytes) {
    auto& segments = header_at(base)->segments;
    std::uint32_t index = segments.load(std::memory_order_relaxed);
    for (;;) {
        std::uint64_t const offset = segment_offset(index);
        if (index >= no_segment - 1 || offset + segment_size > max_bytes) {
            errno = EFBIG;
            return no_segment;
        }
        if (!reserve_segment(fd, offset)) return no_segment;
        // Release pairs with the acquire of whoever checks an index against `segments`: the file is that long.
        if (segments.compare_exchange_strong(index, index + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
            return index;
    }
}

// Writes to every page of a segment that the caller owns, so that its first user meets no page fault of the file
// system. Only for segments that have never been used: their pages are zero.
inline void touch_segment(void* base, std::uint32_t index) {
    auto* const bytes = reinterpret_cast<char volatile*>(segment_at(base, index));
    for (std::size_t at = 0; at < segment_size; at += page) bytes[at] = 0;
}

// The producer's way to a segment: a recycled one if there is one, else a new one.
inline std::uint32_t take_segment(void* base, int fd, std::uint64_t max_bytes) {
    std::uint32_t const recycled = pop_free(base);
    return recycled != no_segment ? recycled : grow(base, fd, max_bytes);
}

}  // namespace lastref::spool
