// A loaded object's unwind tables, and which of its memory may be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/preload/unwind/find_object.h"

namespace lastref::unwind {

// From .eh_frame_hdr: a function's first address and its FDE, both counted from the header; sorted by address.
struct table_entry {
    std::int32_t begin;
    std::int32_t description;
};

// Everything in it is found anew in every walk, so nothing can outlive an object's dlclose.
class loaded_object {
  public:
    // The object that holds `pc`. False if there is none, or if its tables are not in the usual form (sorted, 32 bits).
    // Reads only the first page of the object's mapping, its program headers and its tables.
    bool find(dl_find_object_function find_object, std::uintptr_t pc);

    bool holds(std::uintptr_t address) const { return address - begin_ < end_ - begin_; }

    // The range can be read: it lies in one segment of the file.
    bool readable(std::uintptr_t at, std::size_t size) const {
        if (at >= tables_begin_ && at <= tables_end_ && size <= tables_end_ - at) [[likely]]
            return true;
        return in_other_segment(at, size);
    }
    // How much can be read from there on.
    std::size_t readable_from(std::uintptr_t at) const;

    // The sorted table.
    std::uint32_t functions() const { return count_; }
    std::uintptr_t function_begin(std::uint32_t index) const { return header_ + entry(index).begin; }
    std::uintptr_t description(std::uint32_t index) const { return header_ + entry(index).description; }

    // The last function that begins at or before `pc`; false if there is none.
    bool search(std::uintptr_t pc, std::uint32_t& index) const;
    // Whether search() finds `index` for `pc`.
    bool is_found(std::uintptr_t pc, std::uint32_t index) const {
        return index < count_ && function_begin(index) <= pc && (index + 1 == count_ || pc < function_begin(index + 1));
    }

  private:
    friend struct far_headers;

    table_entry entry(std::uint32_t index) const {
        table_entry found;
        memcpy(&found, reinterpret_cast<void const*>(table_ + std::uintptr_t{index} * sizeof found), sizeof found);
        return found;
    }
    bool read_file_headers(std::uintptr_t bias);
    bool segments_name_themselves() const;
    bool read_table_header();
    bool segment_of(std::uintptr_t at, std::uintptr_t& begin, std::uintptr_t& end) const;
    bool in_other_segment(std::uintptr_t at, std::size_t size) const;

    std::uintptr_t begin_ = 0, end_ = 0;  // of its mapping
    std::uintptr_t bias_ = 0;             // what is added to the file's addresses
    std::uintptr_t segments_ = 0;         // program headers
    std::uint32_t segment_count_ = 0;
    std::uintptr_t header_ = 0;                         // .eh_frame_hdr
    std::uintptr_t tables_begin_ = 0, tables_end_ = 0;  // the segment that holds it
    std::uintptr_t table_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace lastref::unwind
