// Does the number of live objects of one place go on growing, or has it reached a plateau?
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>
#include <type_traits>
#include <unordered_map>
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

// The populations of one process, by the stack that made the objects.
class populations {
  public:
    struct sum {
        std::uint64_t made = 0;
        std::uint64_t gone = 0;
        bool growing = false;  // one of them
    };

    population& at(store::stack_id place) { return by_place_[place]; }

    // Stacks that `key_of` calls the same place as one, in one walk over all.
    template <class KeyOf>
    auto by_key(KeyOf key_of, store::time_ns begin, store::time_ns end) const {
        std::unordered_map<std::decay_t<std::invoke_result_t<KeyOf, store::stack_id>>, sum> out;
        for (auto const& [place, here] : by_place_) {
            auto& all = out[key_of(place)];
            all.made += here.made();
            all.gone += here.gone();
            all.growing |= here.grows(begin, end);
        }
        return out;
    }

  private:
    std::unordered_map<store::stack_id, population> by_place_;
};

}  // namespace lastref::detectors
