// Call frame instructions: what an unwind table's program says at one program counter.
#pragma once

#include <cstdint>

#include "collector/preload/unwind/expression.h"
#include "collector/preload/unwind/reader.h"
#include "collector/preload/unwind/rule.h"

namespace lastref::unwind {

// A pointer's encoding and what it may be counted from (DW_EH_PE_*). Other than absolute and relative to the pointer's
// own place, none is read.
std::uint64_t encoded_pointer(reader& bytes, std::uint8_t encoding);

// Common information of the frames of some functions.
struct common_information {
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint64_t return_address_column = 0;
    std::uint8_t pointer_encoding = 0;
    bool signal = false;            // these are frames that the kernel makes for a signal handler
    bool has_augmentation = false;  // its FDEs carry augmentation data, to be passed over
    reader program{nullptr, nullptr};
};

// Runs the common program and then the function's from its `begin` up to `pc`, and reduces the outcome. `used` becomes
// the end of what was read of the function's program.
rule run_programs(common_information const& common, reader program, std::uintptr_t begin, std::uintptr_t pc,
                  std::uint8_t const*& used);

}  // namespace lastref::unwind
