// A quantity that changes in steps over time, made so that drawing any part of it costs as much as the picture is wide.
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lastref::curves {

using store::time_ns;

struct kept_access;  // reads and writes what is kept in a file; whoever keeps it says how

struct step {
    time_ns at = 0;
    std::uint64_t value = 0;  // from then on
};

class series {
  public:
    // More steps than that are thinned out: of each stretch of time the least, the greatest and the last value stay.
    static constexpr std::size_t most_steps = 1 << 18;

    explicit series(std::string name = {}) : name_(std::move(name)) {}

    // In the order of time; what comes a little late counts from where the series has got to.
    void add(time_ns at, std::uint64_t value);
    void finish();  // before anything below is asked

    std::string const& name() const { return name_; }
    std::vector<step> const& steps() const { return steps_; }
    bool empty() const { return steps_.empty(); }
    std::uint64_t greatest() const { return greatest_; }
    time_ns thinned() const { return grain_; }  // changes closer than this may be missing; 0: none is

    std::uint64_t value_at(time_ns at) const;  // 0 before the first step

    struct extent {
        std::uint64_t least = 0;
        std::uint64_t greatest = 0;
    };
    // Of the value that it has at `from`, and of all that it takes up to `to`. `looked_at` grows by what that cost.
    extent over(time_ns from, time_ns to, std::size_t* looked_at = nullptr) const;

  private:
    friend struct kept_access;
    static constexpr std::size_t fanout = 16;
    void thin();
    std::size_t after(time_ns at) const;  // index of the first step later than that
    extent among(std::size_t first, std::size_t last, std::size_t* looked_at) const;

    std::string name_;
    std::vector<step> steps_;
    std::vector<std::vector<extent>> levels_;  // over 16 steps, 256 steps, ...
    std::uint64_t greatest_ = 0;
    time_ns grain_ = 0;
};

}  // namespace lastref::curves
