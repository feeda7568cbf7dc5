// How a quantity was spread: kept exactly, eight bytes a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lastref::replay {

// The p-th of a hundred is the smallest sample that at least p % of all do not exceed (nearest rank).
struct spread {
    std::uint64_t count = 0;
    std::int64_t median = 0;
    std::int64_t p99 = 0;
    std::int64_t max = 0;
};

class samples {
  public:
    void add(std::int64_t value) { all_.push_back(value); }
    std::size_t count() const { return all_.size(); }

    // Nothing where there is no sample: the median of nothing is not 0.
    std::optional<spread> summary() const;

  private:
    std::vector<std::int64_t> all_;
};

// From one instant to a later one. 0 where the clock went back; times of a damaged trace may be any two numbers.
std::int64_t since(std::int64_t earlier, std::int64_t later);

}  // namespace lastref::replay
