#include "analyzer/findings/audit.h"

#include <fmt/core.h>

#include <set>

#include "analyzer/findings/wording.h"

namespace lastref::findings {
namespace {

// ", from libfoo.so", where the callers are known.
std::string from(audit_sum const& sum, std::string const& symbol) {
    auto const callers = sum.callers.find(symbol);
    if (callers == sum.callers.end()) return "";
    std::string text;
    for (std::string const& path : callers->second)
        text += (text.empty() ? " from " : ", ") + path.substr(path.rfind('/') + 1);
    return text;
}

std::string listed(std::map<std::string, std::uint64_t> const& calls, audit_sum const& sum) {
    constexpr std::size_t most = 6;
    std::string text;
    std::size_t shown = 0;
    for (auto const& [symbol, count] : calls) {
        if (shown++ == most) return text + fmt::format(" and {} more", calls.size() - most);
        text += fmt::format("{}{} {} ×{}", text.empty() ? "" : ", ", symbol, count, from(sum, symbol));
    }
    return text;
}

}  // namespace

audit_sum sum_audit(store::trace const& trace) {
    using verdict = store::audited_call::verdict;
    audit_sum sum;
    std::set<std::string_view> seen;
    for (auto const& each : trace.audit()) {
        auto const more = static_cast<std::uint64_t>(each.cupti > each.recorded ? each.cupti - each.recorded : 0);
        if (each.is == verdict::outside) {
            sum.outside[each.symbol] += static_cast<std::uint64_t>(each.cupti);
            continue;
        }
        if (each.is == verdict::missed) {
            sum.missed[each.symbol] += more;
            if (!each.callers.empty()) sum.callers[each.symbol].insert(each.callers.begin(), each.callers.end());
        }
        sum.calls += static_cast<std::uint64_t>(each.recorded);
        seen.insert(each.symbol);
    }
    sum.entry_points = seen.size();
    return sum;
}

std::string audit_text(audit_sum const& sum) {
    std::string const rest =
        sum.outside.empty() ? "" : fmt::format(" Not recorded by design: {}.", listed(sum.outside, sum));
    if (sum.missed.empty())
        return fmt::format("By CUPTI's count all {} of {} were seen.{}", counted(sum.calls, "call"),
                           counted(sum.entry_points, "entry point"), rest);
    return fmt::format("CUPTI counted calls that were not recorded: {}.{}", listed(sum.missed, sum), rest);
}

}  // namespace lastref::findings
