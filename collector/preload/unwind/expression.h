// DWARF expressions of unwind tables, evaluated without a stack at hand: all that those of compilers and of glibc
// depend on is the stack pointer, the frame pointer, the CFA and the program counter, and the last is known.
#pragma once

#include <cstdint>

#include "collector/preload/unwind/reader.h"
#include "collector/preload/unwind/rule.h"

namespace lastref::unwind {

// A value as a sum, or the word in memory at a sum.
struct symbolic {
    enum class form : std::uint8_t { unknown, constant, sum, loaded };
    form is = form::unknown;
    base from = base::cfa;  // for sum and loaded
    std::int64_t offset = 0;

    static symbolic constant(std::int64_t value) { return {form::constant, base::cfa, value}; }
    static symbolic sum(base from, std::int64_t offset) { return {form::sum, from, offset}; }
};

// `unknown` for what it cannot say: other registers, arithmetic on them, operations that no compiler writes here.
// The CFA is on the evaluation's stack at its begin if `with_cfa` (rules of registers), else the stack is empty.
symbolic evaluate(reader expression, std::uintptr_t pc, bool with_cfa);

}  // namespace lastref::unwind
