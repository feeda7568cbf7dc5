// The time stamp that records carry: the processor's counter where it is constant, CLOCK_MONOTONIC otherwise.
#pragma once

#include <ctime>

#include "schema/spool.h"

#if defined(__x86_64__)
#include "collector/preload/arch/x86_64/counter.h"
#else
#error "collector/preload/arch: add a folder for this processor"
#endif

namespace lastref::preload {

inline spool::clock_kind clock_in_use = spool::clock_kind::monotonic_ns;

inline std::uint64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t now_ticks() {
    if (clock_in_use == spool::clock_kind::tsc) [[likely]]
        return arch::counter();
    return monotonic_ns();
}

// A tick count and a time of the same instant, for the drain to turn one into the other. The pair with the shortest way
// around the clock call of a few tries: a descheduled thread would tear the two apart.
struct tick_time {
    std::uint64_t ticks;
    std::uint64_t ns;
};
inline tick_time clock_sample() {
    tick_time best{};
    std::uint64_t shortest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::uint64_t const before = now_ticks();
        std::uint64_t const ns = monotonic_ns();
        std::uint64_t const after = now_ticks();
        if (after - before >= shortest) continue;
        shortest = after - before;
        best = {before + shortest / 2, ns};
    }
    return best;
}

}  // namespace lastref::preload
