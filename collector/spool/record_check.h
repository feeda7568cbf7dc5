// Checks one record of a segment before it is interpreted, and gives access to its parts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "schema/spool.h"

namespace lastref::spool {

// A record's place in its segment. Valid as long as the spool is mapped and the segment not recycled.
struct record_view {
    segment_header const* segment;
    std::uint32_t slot;

    std::byte const* bytes() const { return reinterpret_cast<std::byte const*>(segment) + slot * slot_size; }
    record_type type() const { return static_cast<record_type>(bytes()[2]); }
    std::uint32_t slots() const { return static_cast<std::uint32_t>(bytes()[3]); }
    call_record const& call() const { return *reinterpret_cast<call_record const*>(bytes()); }
    stack_record const& stack() const { return *reinterpret_cast<stack_record const*>(bytes()); }
    module_record const& module() const { return *reinterpret_cast<module_record const*>(bytes()); }
    text_record const& text() const { return *reinterpret_cast<text_record const*>(bytes()); }
    phase_record const& phase() const { return *reinterpret_cast<phase_record const*>(bytes()); }
    range_record const& range() const { return *reinterpret_cast<range_record const*>(bytes()); }
    nvtx_record const& nvtx() const { return *reinterpret_cast<nvtx_record const*>(bytes()); }
    python_record const& python() const { return *reinterpret_cast<python_record const*>(bytes()); }
    std::string_view range_name() const;

    // The variable parts of a record that has passed check_record.
    std::span<std::uint64_t const> frames() const { return {stack().frames, stack().count}; }
    std::string_view module_path() const;
    std::string_view text_bytes() const;
    std::string_view nvtx_domain() const;
    std::string_view nvtx_category() const;
    std::string_view nvtx_message() const;
    std::string_view python_function() const;
    std::string_view python_file() const;
};

enum class record_state {
    good,
    bad_content,  // its length can be believed, what it says cannot: skip `slots`
    bad_length,   // not even where the next record begins is known
};

struct check_limits {
    std::uint32_t committed;     // slots of the segment that are published
    std::uint32_t entry_points;  // numbers below this are entry points of the table
    std::uint64_t first_ticks;   // spool_identity::first_ticks: no stamp is far from it
    // After damage the next record has to be searched for. What could be the inside of a longer record is then believed
    // only if every field of it fits.
    bool searching;
};

record_state check_record(record_view record, check_limits const& limits);

}  // namespace lastref::spool
