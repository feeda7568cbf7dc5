// How to get from one frame to its caller at one program counter: what an unwind table says there, in 64 bits.
#pragma once

#include <bit>
#include <cstdint>

namespace lastref::unwind {

enum class rule_kind : std::uint64_t {
    not_simple = 0,  // needs more than a rule can say, or cannot be read: another unwinder has to do it
    caller = 1,      // the frame has a caller
    outermost = 2,   // the stack ends with this frame
};

// What an address is counted from. The canonical frame address (CFA) is the stack pointer that the caller had before
// the call.
enum class base : std::uint64_t { cfa = 0, stack_pointer = 1, frame_pointer = 2 };

// Offsets are in words of the stack.
struct rule {
    rule_kind kind : 2;
    std::uint64_t signal : 1;          // the caller was interrupted, not calling: its address is of what runs next
    std::uint64_t cfa_from_frame : 1;  // CFA = frame pointer + cfa_offset, else stack pointer + cfa_offset
    std::uint64_t cfa_loaded : 1;      // the CFA lies in memory at that address
    std::uint64_t fp_saved : 1;        // the caller's frame pointer lies at fp_base + fp_offset, else it is unchanged
    base fp_base : 2;
    base ra_base : 2;  // the return address lies at ra_base + ra_offset
    std::int64_t cfa_offset : 22;
    std::int64_t fp_offset : 16;
    std::int64_t ra_offset : 16;

    // For offsets that fit; gcc has no cast to the width of a bit field.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
    void set_cfa_offset(std::int64_t words) {
        cfa_offset = words;
    }
    void set_fp_offset(std::int64_t words) {
        fp_offset = words;
    }
    void set_ra_offset(std::int64_t words) {
        ra_offset = words;
    }
#pragma GCC diagnostic pop

    bool operator==(rule const& other) const {
        return word() == other.word();
    }
    std::uint64_t word() const {
        return std::bit_cast<std::uint64_t>(*this);
    }
    static rule from_word(std::uint64_t word) {
        return std::bit_cast<rule>(word);
    }
    static rule of(rule_kind kind) {
        rule made = from_word(0);
        made.kind = kind;
        return made;
    }
};
static_assert(sizeof(rule) == sizeof(std::uint64_t));

}  // namespace lastref::unwind
