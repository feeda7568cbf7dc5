#include "collector/preload/unwind/loaded_object.h"

#include <elf.h>

#include <atomic>
#include <initializer_list>

#include "collector/preload/unwind/thread_stack.h"

namespace lastref::unwind {
namespace {

// What any segment is mapped with at least. The loader itself reads the headers there, so they can be read.
constexpr std::size_t smallest_mapping = 4096;

// .eh_frame_hdr (Linux Standard Base, 10.6.2), as all linkers write it.
struct table_header {
    std::uint8_t version;
    std::uint8_t frame_encoding;
    std::uint8_t count_encoding;
    std::uint8_t table_encoding;
    std::int32_t frame;
    std::uint32_t count;
};
constexpr std::uint8_t encoding_udata4 = 0x03;
constexpr std::uint8_t encoding_header_relative_sdata4 = 0x3b;

template <class Type>
Type read(std::uintptr_t at) {
    Type value;
    memcpy(&value, reinterpret_cast<void const*>(at), sizeof value);
    return value;
}

}  // namespace

// Program headers outside of the first page: whether they can be read is asked of the kernel at the first sight of an
// object, and remembered by all that tells it from others.
struct far_headers {
    static bool are_known(loaded_object const& object, ElfW(Ehdr) const& file) {
        std::uint64_t key = 0;
        for (std::uint64_t const part : {std::uint64_t{object.begin_}, std::uint64_t{object.end_},
                                         std::uint64_t{object.header_}, file.e_phoff, file.e_shoff})
            key = (key ^ part) * 0x9e3779b97f4a7c15u, key ^= key >> 29;
        key |= 1;
        std::atomic<std::uint64_t>& place = known[key >> 58];
        if (place.load(std::memory_order_relaxed) == key) return true;
        std::uintptr_t const last = object.segments_ + object.segment_count_ * sizeof(ElfW(Phdr)) - 1;
        if (object.segment_count_ == 0 || last - object.segments_ >= smallest_mapping ||
            !page_is_readable(object.segments_) || !page_is_readable(last) || !object.segments_name_themselves())
            return false;
        place.store(key, std::memory_order_relaxed);
        return true;
    }

    static std::atomic<std::uint64_t> known[64];
};
std::atomic<std::uint64_t> far_headers::known[64];

bool loaded_object::find(dl_find_object_function find_object, std::uintptr_t pc) {
    dl_find_object_result found;
    begin_ = end_ = 0;
    if (find_object(reinterpret_cast<void*>(pc), &found) != 0 || found.eh_frame == nullptr) return false;
    begin_ = reinterpret_cast<std::uintptr_t>(found.map_start);
    end_ = reinterpret_cast<std::uintptr_t>(found.map_end);
    header_ = reinterpret_cast<std::uintptr_t>(found.eh_frame);
    if (read_file_headers(found.map->l_addr) && read_table_header()) return true;
    begin_ = end_ = 0;
    return false;
}

// The file's headers lie at the begin of its first segment. Tools that rewrite files (BOLT: the Python of several
// distributors, compilers) move the program headers to a segment of their own, far behind, where address and place in
// the file are the same.
bool loaded_object::read_file_headers(std::uintptr_t bias) {
    if (end_ - begin_ < smallest_mapping) return false;
    auto const file = read<ElfW(Ehdr)>(begin_);
    std::size_t const size = file.e_phnum * sizeof(ElfW(Phdr));
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof(ElfW(Phdr)) ||
        file.e_phoff >= end_ - begin_ || size > end_ - begin_ - file.e_phoff)
        return false;
    bias_ = bias;
    segments_ = begin_ + file.e_phoff;
    segment_count_ = file.e_phnum;
    if (file.e_phoff + size > smallest_mapping && !far_headers::are_known(*this, file)) return false;
    return segment_of(header_, tables_begin_, tables_end_);
}

// Whether they name their own address.
bool loaded_object::segments_name_themselves() const {
    for (std::uint32_t i = 0; i < segment_count_; ++i) {
        auto const segment = read<ElfW(Phdr)>(segments_ + i * sizeof(ElfW(Phdr)));
        if (segment.p_type == PT_PHDR) return bias_ + segment.p_vaddr == segments_;
    }
    return false;
}

bool loaded_object::read_table_header() {
    if (!readable(header_, sizeof(table_header))) return false;
    auto const header = read<table_header>(header_);
    if (header.version != 1 || header.count_encoding != encoding_udata4 ||
        header.table_encoding != encoding_header_relative_sdata4 || header.frame_encoding == 0xff)
        return false;
    // The table follows the pointer to .eh_frame, which has four bytes in all but relics.
    if ((header.frame_encoding & 0x0f) != 0x0b && (header.frame_encoding & 0x0f) != 0x03) return false;
    table_ = header_ + sizeof(table_header);
    count_ = header.count;
    return count_ != 0 && count_ <= (tables_end_ - table_) / sizeof(table_entry);
}

bool loaded_object::segment_of(std::uintptr_t at, std::uintptr_t& begin, std::uintptr_t& end) const {
    for (std::uint32_t i = 0; i < segment_count_; ++i) {
        std::uintptr_t const place = segments_ + i * sizeof(ElfW(Phdr));
        if (read<ElfW(Word)>(place + offsetof(ElfW(Phdr), p_type)) != PT_LOAD) continue;
        auto const segment = read<ElfW(Phdr)>(place);
        begin = bias_ + segment.p_vaddr;
        end = begin + segment.p_filesz;
        if (at < begin || at >= end) continue;
        return (segment.p_flags & PF_R) != 0 && begin >= begin_ && end >= begin && end <= end_;
    }
    return false;
}

bool loaded_object::in_other_segment(std::uintptr_t at, std::size_t size) const {
    return size <= readable_from(at);
}

std::size_t loaded_object::readable_from(std::uintptr_t at) const {
    if (at >= tables_begin_ && at < tables_end_) return tables_end_ - at;
    std::uintptr_t begin = 0, end = 0;
    return segment_of(at, begin, end) ? end - at : 0;
}

bool loaded_object::search(std::uintptr_t pc, std::uint32_t& index) const {
    if (pc < function_begin(0)) return false;
    std::uint32_t low = 0, high = count_;  // begins at or before pc; begins behind it
    while (high - low > 1) {
        std::uint32_t const middle = low + (high - low) / 2;
        (function_begin(middle) <= pc ? low : high) = middle;
    }
    index = low;
    return true;
}

}  // namespace lastref::unwind
