// Does the number of live objects of one place go on growing, or has it reached a plateau?
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>
#include <vector>

namespace lastref::detectors {

// A bounded history of a count: at most `most` samples, spread evenly over the changes (every second one is dropped,
// and the stride doubled, when it is full).
class growth {
  public:
    void sample(store::time_ns at, std::int64_t live);

    // True where the count rose through the whole run, from `begin` to `end`: at least `enough` alive at the end, and
    // each quarter of the time ends higher than the one before it. What a program sets up once and keeps does not. The
    // time begins with the first sample, where at least half of the run is left then.
    bool steady(std::int64_t live_at_end, store::time_ns begin, store::time_ns end) const;

  private:
    static constexpr std::size_t most = 32;
    static constexpr std::int64_t enough = 8;

    std::int64_t live_at(store::time_ns at) const;

    struct point {
        store::time_ns at = 0;
        std::int64_t live = 0;
    };
    std::vector<point> points_;
    std::uint64_t stride_ = 1;
    std::uint64_t seen_ = 0;
};

// The objects of one place: how many were made and how many have gone, and how the number alive went.
class population {
  public:
    void add(store::time_ns at) {
        ++made_;
        history_.sample(at, live());
    }
    void remove(store::time_ns at) {
        ++gone_;
        history_.sample(at, live());
    }
    std::uint64_t made() const { return made_; }
    std::uint64_t gone() const { return gone_; }
    std::int64_t live() const { return static_cast<std::int64_t>(made_ - gone_); }
    bool grows(store::time_ns begin, store::time_ns end) const { return history_.steady(live(), begin, end); }

  private:
    std::uint64_t made_ = 0;
    std::uint64_t gone_ = 0;
    growth history_;
};

}  // namespace lastref::detectors
