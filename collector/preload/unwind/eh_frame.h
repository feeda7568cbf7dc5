// .eh_frame: finds what a loaded object says of one program counter, and reduces it to a rule.
#pragma once

#include <bit>
#include <cstdint>

#include "collector/preload/unwind/loaded_object.h"
#include "collector/preload/unwind/rule.h"

namespace lastref::unwind {

// What a rule was made from, short enough to be compared whenever the rule is used: the entry of the object's sorted
// table, and a hash over the bytes that were read behind it.
struct proof {
    std::uint64_t index : 32;        // of the function in the table
    std::uint64_t length : 8;        // of what was read of its description, in 32 bytes; 0: there is no proof
    std::uint64_t fingerprint : 24;  // of those bytes and of the common information that they refer to

    std::uint64_t word() const { return std::bit_cast<std::uint64_t>(*this); }
    bool operator==(proof const& other) const { return word() == other.word(); }
};

struct proved_rule {
    rule what;
    proof why;
};

// The rule at `pc`, which must lie in `object`. Never fails: what cannot be read is `not_simple`, a program counter
// that no description covers is `outermost`, since unwinding ends there.
proved_rule read_rule(loaded_object const& object, std::uintptr_t pc);

// Whether read_rule() would find the same bytes again.
bool still_proved(loaded_object const& object, std::uintptr_t pc, proof const& why);

}  // namespace lastref::unwind
