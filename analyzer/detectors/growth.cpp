#include "analyzer/detectors/growth.h"

#include <algorithm>

namespace lastref::detectors {

void growth::sample(store::time_ns at, std::int64_t live) {
    if (seen_++ % stride_ != 0) return;
    if (points_.size() == most) {
        for (std::size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
        points_.resize(most / 2);
        stride_ *= 2;
    }
    points_.push_back({at, live});
}

std::int64_t growth::live_at(store::time_ns at) const {
    auto const after = std::upper_bound(points_.begin(), points_.end(), at,
                                        [](store::time_ns wanted, point const& p) { return wanted < p.at; });
    return after == points_.begin() ? 0 : std::prev(after)->live;
}

bool growth::steady(std::int64_t live_at_end, store::time_ns begin, store::time_ns end) const {
    if (live_at_end < enough || end <= begin || points_.empty()) return false;
    // A place that came into use later is judged from then on, as long as that is half of the run.
    auto const own = points_.front().at;
    if (end - own >= (end - begin) / 2) begin = std::max(begin, own);
    std::int64_t before = 0;
    for (int quarter = 1; quarter <= 3; ++quarter) {
        auto const live = live_at(begin + (end - begin) / 4 * quarter);
        if (live <= before) return false;
        before = live;
    }
    return live_at_end > before;
}

}  // namespace lastref::detectors
