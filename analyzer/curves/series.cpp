#include "analyzer/curves/series.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lastref::curves {
namespace {

series::extent joined(series::extent const& a, series::extent const& b) {
    return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

}  // namespace

void series::add(time_ns at, std::uint64_t value) {
    greatest_ = std::max(greatest_, value);
    if (!steps_.empty()) {
        auto& last = steps_.back();
        at = std::max(at, last.at);
        if (last.value == value) return;
        if (last.at == at && steps_.size() > 1) return void(last.value = value);
    }
    steps_.push_back({at, value});
    if (steps_.size() > most_steps) thin();
}

// Keeps at most four steps of each stretch: first, least, greatest, last.
void series::thin() {
    auto const whole = static_cast<std::uint64_t>(steps_.back().at) - static_cast<std::uint64_t>(steps_.front().at);
    auto const length = static_cast<time_ns>(std::clamp<std::uint64_t>(whole, 1, INT64_MAX));
    grain_ = std::max(grain_ * 2, length / static_cast<time_ns>(most_steps / 16) + 1);
    std::vector<step> kept;
    for (std::size_t first = 0; first < steps_.size();) {
        auto const end = steps_[first].at / grain_;
        auto last = first;
        while (last + 1 < steps_.size() && steps_[last + 1].at / grain_ == end) ++last;
        auto const begin_at = steps_.begin() + static_cast<std::ptrdiff_t>(first);
        auto const end_at = steps_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
        auto const less = [](step const& a, step const& b) { return a.value < b.value; };
        auto const [least, most] = std::minmax_element(begin_at, end_at, less);
        std::array keep{begin_at, least, most, end_at - 1};
        std::sort(keep.begin(), keep.end());
        auto const different = std::unique(keep.begin(), keep.end());
        for (auto each = keep.begin(); each != different; ++each) kept.push_back(**each);
        first = last + 1;
    }
    steps_ = std::move(kept);
}

void series::finish() {
    steps_.shrink_to_fit();
    levels_.clear();
    std::vector<extent> below;
    for (auto const& s : steps_) below.push_back({s.value, s.value});
    while (below.size() > fanout) {
        std::vector<extent> level((below.size() + fanout - 1) / fanout, extent{UINT64_MAX, 0});
        for (std::size_t i = 0; i < below.size(); ++i) level[i / fanout] = joined(level[i / fanout], below[i]);
        levels_.push_back(level);
        below = std::move(level);
    }
}

std::size_t series::after(time_ns at) const {
    auto const later = [](time_ns t, step const& s) { return t < s.at; };
    return static_cast<std::size_t>(std::upper_bound(steps_.begin(), steps_.end(), at, later) - steps_.begin());
}

std::uint64_t series::value_at(time_ns at) const {
    auto const next = after(at);
    return next == 0 ? 0 : steps_[next - 1].value;
}

// Whole summaries from the finest level up while the ends are not on their borders.
series::extent series::among(std::size_t first, std::size_t last, std::size_t* looked_at) const {
    extent out{UINT64_MAX, 0};
    auto const take = [&](extent const& e) {
        out = joined(out, e);
        if (looked_at != nullptr) ++*looked_at;
    };
    std::size_t level = 0;  // 0: steps, n: levels_[n - 1]
    auto const at = [&](std::size_t i) {
        return level == 0 ? extent{steps_[i].value, steps_[i].value} : levels_[level - 1][i];
    };
    while (first < last) {
        bool const coarser = level < levels_.size();
        while (first < last && (first % fanout != 0 || !coarser)) take(at(first++));
        while (first < last && last % fanout != 0) take(at(--last));
        first /= fanout;
        last /= fanout;
        ++level;
    }
    return out;
}

series::extent series::over(time_ns from, time_ns to, std::size_t* looked_at) const {
    auto const first = after(from), last = std::max(first, after(to));
    auto const held = value_at(from);
    if (looked_at != nullptr) ++*looked_at;
    auto const rest = among(first, last, looked_at);
    return first == last ? extent{held, held} : joined(rest, {held, held});
}

}  // namespace lastref::curves
