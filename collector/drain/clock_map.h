// Turns clock ticks of a spool into nanoseconds of CLOCK_MONOTONIC, by pairs of both that were read at the same
// instant.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/spool.h"

namespace lastref::drain {

struct clock_reading {
    std::uint64_t ticks;
    std::uint64_t ns;  // CLOCK_MONOTONIC
};

// Reads both clocks of this machine as close together as it can.
clock_reading read_clocks(spool::clock_kind kind);

// Piecewise linear between the pairs, and so continuous and never decreasing. A tick between two known pairs is never
// mapped anew when later pairs come, so rows already written stay in order with those that follow. Threads: one.
class clock_map {
  public:
    clock_map(spool::clock_kind kind, clock_reading first);

    // Adds a pair behind those known; one that contradicts them (damaged, torn, of another machine) is left out.
    bool add(clock_reading pair);
    // Does `now`, read on this machine, continue the pairs? False where the spool comes from another machine or an
    // earlier boot.
    bool continues(clock_reading now) const;

    std::uint64_t ns(std::uint64_t ticks) const;
    // The greatest ticks whose ns() does not lie behind `ns`, give or take a rounding.
    std::uint64_t ticks(std::uint64_t ns) const;
    clock_reading last() const { return {nodes_.back().ticks, nodes_.back().ns}; }

  private:
    struct node {
        std::uint64_t ticks;
        std::uint64_t ns;
        double ns_per_tick;  // up to the next node
    };
    std::size_t find(std::uint64_t ticks) const;
    void thin_out();
    bool plausible(double ns_per_tick) const;

    spool::clock_kind kind_;
    std::vector<node> nodes_;
    mutable std::size_t recent_ = 0;
};

}  // namespace lastref::drain
