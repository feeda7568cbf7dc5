#include "analyzer/findings/audit.h"

#include <fmt/core.h>

#include <set>

#include "analyzer/findings/wording.h"

namespace lastref::findings {
namespace {

std::string listed(std::map<std::string, std::uint64_t> const& calls) {
    constexpr std::size_t most = 6;
    std::string text;
    std::size_t shown = 0;
    for (auto const& [symbol, count] : calls) {
        if (shown++ == most) return text + fmt::format(" and {} more", calls.size() - most);
        text += fmt::format("{}{} {} ×", text.empty() ? "" : ", ", symbol, count);
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
        if (each.is == verdict::missed) sum.missed[each.symbol] += more;
        sum.calls += static_cast<std::uint64_t>(each.recorded);
        seen.insert(each.symbol);
    }
    sum.entry_points = seen.size();
    return sum;
}

std::string audit_text(audit_sum const& sum) {
    std::string const rest =
        sum.outside.empty() ? "" : fmt::format(" Not recorded by design: {}.", listed(sum.outside));
    if (sum.missed.empty())
        return fmt::format("By CUPTI's count all {} of {} were seen.{}", counted(sum.calls, "call"),
                           counted(sum.entry_points, "entry point"), rest);
    return fmt::format("CUPTI counted calls that were not recorded: {}.{}", listed(sum.missed), rest);
}

}  // namespace lastref::findings
