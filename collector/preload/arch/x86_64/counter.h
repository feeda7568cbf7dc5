// x86-64: the time stamp counter.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace lastref::preload::arch {

inline std::uint64_t counter() {
    return __builtin_ia32_rdtsc();
}

// CPUID 8000_0007h EDX bit 8: the counter runs at one rate in all power states (Intel SDM 18.17.1, AMD APM 2, 13.2.4).
// Linux keeps such counters in step over all processors, and calls them unstable where it cannot; then CLOCK_MONOTONIC
// is no longer based on it, but the counter of one processor still is monotonic, so at worst stamps of two threads are
// skewed.
inline bool counter_is_constant() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

}  // namespace lastref::preload::arch
