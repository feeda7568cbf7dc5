#include "analyzer/detectors/warm_up.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace lastref::detectors {
namespace {

// Names as they compare: of ASCII letters the case does not matter.
std::string folded(std::string_view name) {
    std::string out(name);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

struct named_stretch {
    std::string key;   // the name as it compares
    std::string name;  // as it was written
    store::time_ns begin = 0;
    store::time_ns end = 0;
};
using by_process = std::map<store::process_id, std::vector<named_stretch>>;

constexpr auto never = std::numeric_limits<store::time_ns>::max();

by_process ranges_called(store::trace const& trace, std::vector<std::string> const& names) {
    by_process out;
    auto const meant = [&names](std::string const& name) {
        return std::any_of(names.begin(), names.end(),
                           [&name](auto const& each) { return folded(each) == folded(name); });
    };
    for (auto const& range : trace.ranges())
        if (meant(range.name))
            out[range.process].push_back({folded(range.name), range.name, range.begin, range.end.value_or(never)});
    auto reader = trace.nvtx_ranges(names);
    for (store::nvtx_range range; reader.next(range);)
        out[range.process].push_back({folded(range.name), range.name, range.begin, range.end.value_or(never)});
    for (auto& [process, all] : out)
        std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.begin < b.begin; });
    return out;
}

warm_up::of_process stretches_of(std::vector<named_stretch> const& all) {
    warm_up::of_process out;
    std::set<std::string_view> had;
    for (auto const& each : all) {
        if (!had.insert(each.key).second || each.end < out.end) continue;
        out.end = each.end;
        out.last = each.name;
    }
    for (auto const& each : all) {
        if (each.end <= out.end) continue;
        auto& later = out.later;
        if (!later.empty() && each.begin <= later.back().end)
            later.back().end = std::max(later.back().end, each.end);
        else
            later.push_back({each.begin, each.end});
    }
    return out;
}

}  // namespace

warm_up::warm_up(store::trace const& trace, settings const& asked) : time_(asked.warm_up) {
    if (!asked.warm_up_ranges.empty()) {
        by_range_ = true;
        add_ranges(trace, asked.warm_up_ranges);
    } else if (!time_) {
        add_ranges(trace, {"warm-up", "warm_up", "warmup", "warm up"});
        unknown_.clear();  // nobody promised any
        by_range_ = !processes_.empty();
    }
}

void warm_up::add_ranges(store::trace const& trace, std::vector<std::string> const& names) {
    unknown_ = names;
    for (auto const& [process, all] : ranges_called(trace, names)) {
        for (auto const& each : all)
            std::erase_if(unknown_, [&each](auto const& name) { return folded(name) == each.key; });
        processes_[process] = stretches_of(all);
    }
}

bool warm_up::over(model::process_state const& process, model::event const& e) const {
    if (!time_ && !by_range_) return false;
    auto const at = e.row.begin;
    if (time_ && at - process.first_event() < *time_) return false;
    if (!by_range_) return true;
    auto const found = processes_.find(process.process().id);
    if (found == processes_.end() || at < found->second.end) return false;
    auto const& later = found->second.later;
    auto const next =
        std::upper_bound(later.begin(), later.end(), at, [](auto t, stretch const& s) { return t < s.begin; });
    return next == later.begin() || at > std::prev(next)->end;
}

std::string warm_up::reason(store::process_id process) const {
    auto const found = processes_.find(process);
    if (found == processes_.end())
        return fmt::format("the calls came more than {} after the process's first driver call",
                           findings::duration_text(time_.value_or(0)));
    return fmt::format("the calls came after warm-up, whose range {} ended at {}", findings::quoted(found->second.last),
                       findings::time_text(found->second.end));
}

}  // namespace lastref::detectors
