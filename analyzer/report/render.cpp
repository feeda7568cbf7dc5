#include "analyzer/report/render.h"

#include "analyzer/findings/wording.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace lastref::report {
namespace {

using namespace std::string_view_literals;

constexpr std::array formats{std::pair{"text"sv, format::text},         std::pair{"json"sv, format::json},
                             std::pair{"sarif"sv, format::sarif},       std::pair{"junit"sv, format::junit},
                             std::pair{"markdown"sv, format::markdown}, std::pair{"html"sv, format::html}};

}  // namespace

std::optional<format> format_named(std::string_view name) {
    for (auto const& [known, value] : formats)
        if (known == name) return value;
    return std::nullopt;
}

std::vector<std::string> format_names() {
    std::vector<std::string> out;
    for (auto const& [name, value] : formats) out.emplace_back(name);
    return out;
}

std::string render(format as, input const& in, style const& how) {
    switch (as) {
        case format::json:
            return render_json(in);
        case format::sarif:
            return render_sarif(in, how);
        case format::junit:
            return render_junit(in);
        case format::markdown:
            return render_markdown(in);
        case format::html:
            return render_html(in);
        case format::text:
            break;
    }
    return render_text(in, how);
}

std::vector<findings::range_summary> left_by_range(input const& in) {
    auto out = findings::by_range(in.what, in.trace);
    for (auto& each : out)
        std::erase_if(each.shares,
                      [&](auto const& share) { return in.outcome.of(share.finding) != gate::state::open; });
    std::erase_if(out, [](auto const& each) { return each.shares.empty(); });
    return out;
}

std::string after_text(store::process const& p) {
    if (!p.last_time || *p.last_time < p.first_time) return {};
    auto const length = static_cast<std::uint64_t>(*p.last_time) - static_cast<std::uint64_t>(p.first_time);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<store::time_ns>::max());
    return " after " + findings::time_text(static_cast<store::time_ns>(std::min(length, most)));
}

std::vector<std::size_t> those(input const& in, gate::state state) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < in.what.found.size(); ++i)
        if (in.outcome.of(i) == state) out.push_back(i);
    return out;
}

}  // namespace lastref::report
