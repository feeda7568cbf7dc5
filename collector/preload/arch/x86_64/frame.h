// x86-64: what the unwinder must know of registers, calls and signals (System V ABI, AMD64 supplement, 3.2.2
// and 3.6.2).
#pragma once

#include <cstdint>
#include <cstring>

namespace lastref::preload::arch {

// Numbers of registers in unwind tables.
inline constexpr std::uint64_t dwarf_frame_pointer = 6;    // rbp
inline constexpr std::uint64_t dwarf_stack_pointer = 7;    // rsp
inline constexpr std::uint64_t dwarf_return_address = 16;  // the column of rip

// Stack pointers are multiples of this at every call, and so is all that frames save.
inline constexpr std::uint64_t stack_word = 8;

// A function with a frame pointer, seen from its frame address: saved rbp, return address, then the caller's frame.
inline constexpr std::uint64_t saved_frame_pointer_from_frame = 0;
inline constexpr std::uint64_t return_address_from_frame = 8;
inline constexpr std::uint64_t caller_from_frame = 16;

// `mov $15, %rax; syscall`, where a signal handler returns to (sigreturn). glibc's has unwind information; one without
// is known by its code.
inline constexpr std::uint8_t signal_return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

}  // namespace lastref::preload::arch
