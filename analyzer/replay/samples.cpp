#include "analyzer/replay/samples.h"

#include <algorithm>
#include <limits>

namespace lastref::replay {

std::optional<spread> samples::summary() const {
    if (all_.empty()) return {};
    auto ordered = all_;
    std::sort(ordered.begin(), ordered.end());
    auto const nearest = [&ordered](std::size_t percent) {
        auto const whole = ordered.size() / 100 * percent;
        auto const rest = (ordered.size() % 100 * percent + 99) / 100;
        return ordered[whole + rest - 1];
    };
    return spread{ordered.size(), nearest(50), nearest(99), ordered.back()};
}

std::int64_t since(std::int64_t earlier, std::int64_t later) {
    if (later <= earlier) return 0;
    auto const length = static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
    constexpr auto longest = std::numeric_limits<std::int64_t>::max();
    return length > static_cast<std::uint64_t>(longest) ? longest : static_cast<std::int64_t>(length);
}

}  // namespace lastref::replay
