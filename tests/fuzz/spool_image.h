// Spools made of a fuzzer's bytes. A spool is mostly zeros and must have the right header to be looked at at all, so an
// input is a list of patches on a sound one:
//
//     where (1 byte), offset (2 bytes), length (1 byte), that many bytes; again and again
//
// `where` modulo 8: 0 the header, 1 the table of contexts, 2 the first thread slots, 3 … 7 the first five segments. The
// sound spool has one live thread whose chain leads through segments 0 and 1, with `committed` slots in each.
#pragma once

#include <cstring>
#include <fstream>
#include <string>

#include "collector/preload/hooks/api_table.h"
#include "schema/spool.h"
#include "tests/fuzz/input.h"

namespace lastref::fuzz {

inline constexpr std::uint32_t segments_in_image = 5;
inline constexpr std::uint64_t first_ticks = 1'000'000'000;

inline void sound_header(spool::spool_header& head) {
    head.magic = spool::file_magic;
    head.version = spool::format_version;
    head.header_size = spool::header_bytes;
    head.thread_slots_size = spool::thread_slots_bytes;
    head.segment_bytes = spool::segment_size;
    head.table_hash = hooks::table_hash();
    head.pid = 999'999'999;
    head.process_start = 1;
    head.clock = spool::clock_kind::monotonic_ns;
    head.first_clock.ticks = first_ticks;
    head.first_clock.monotonic_ns = first_ticks;
    head.last_clock.ticks = 2 * first_ticks;
    head.last_clock.monotonic_ns = 2 * first_ticks;
    head.max_bytes = std::uint64_t{1} << 28;
    head.segments = segments_in_image;
    head.thread_slots_used = 1;
    head.contexts_used = 2;
    head.contexts[1].handle = 0xc0;
    head.ready = 1;
}

inline void sound_segment(spool::segment_header& head, std::uint32_t index) {
    head.committed = spool::slots_per_segment;
    head.serial = index + 1;
    head.thread_serial = 1;
    head.order = index;
    head.tid = 1;
    head.next = index == 0 ? 1 : spool::no_segment;
    head.clock_ticks = first_ticks;
    head.clock_ns = first_ticks;
}

inline std::string sound_image() {
    std::string image(spool::segment_offset(segments_in_image), '\0');
    sound_header(*reinterpret_cast<spool::spool_header*>(image.data()));
    auto& slot = *reinterpret_cast<spool::thread_slot*>(image.data() + spool::header_bytes);
    slot.state = static_cast<std::uint32_t>(spool::thread_state::live);
    slot.tid = 1;
    slot.serial = 1;
    for (std::uint32_t i = 0; i < 2; ++i)
        sound_segment(*reinterpret_cast<spool::segment_header*>(image.data() + spool::segment_offset(i)), i);
    return image;
}

// Where patches go: the file is written once, patched, and what was patched is put back for the next input.
class spool_image {
  public:
    spool_image() : sound_(sound_image()), path_(scratch() / "999999999-1.spool") {}

    std::filesystem::path const& write(input from) {
        std::string image = sound_;
        while (from.left() > 4) {
            unsigned const where = from.number<std::uint8_t>() % 8;
            std::size_t const offset = from.number<std::uint16_t>();
            std::string_view const bytes = from.bytes(from.number<std::uint8_t>());
            std::size_t const place = begin_of(where) + offset;
            if (place + bytes.size() <= image.size()) std::memcpy(image.data() + place, bytes.data(), bytes.size());
        }
        // Only what is not zero: most of the file is not, and is never read.
        int const fd = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (ftruncate(fd, static_cast<off_t>(image.size())) != 0) std::abort();
        write_part(fd, image, 0, spool::header_bytes + 4096);
        write_part(fd, image, spool::segment_offset(0), image.size() - spool::segment_offset(0));
        close(fd);
        return path_;
    }

  private:
    static std::size_t begin_of(unsigned where) {
        if (where == 0) return 0;
        if (where == 1) return offsetof(spool::spool_header, contexts);
        if (where == 2) return spool::header_bytes;
        return spool::segment_offset(where - 3);
    }
    static void write_part(int fd, std::string const& image, std::size_t begin, std::size_t size) {
        if (pwrite(fd, image.data() + begin, size, static_cast<off_t>(begin)) != static_cast<ssize_t>(size))
            std::abort();
    }

    std::string sound_;
    std::filesystem::path path_;
};

}  // namespace lastref::fuzz
