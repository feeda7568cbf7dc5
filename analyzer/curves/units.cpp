#include "analyzer/curves/units.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lastref::curves {
namespace {

struct time_unit {
    store::time_ns length;
    char const* name;
};
constexpr std::array time_units{time_unit{1'000'000'000, "s"}, time_unit{1'000'000, "ms"}, time_unit{1'000, "µs"},
                                time_unit{1, "ns"}};

time_unit unit_for(store::time_ns step) {
    auto const fits = [step](time_unit const& u) { return step >= u.length; };
    auto const found = std::find_if(time_units.begin(), time_units.end(), fits);
    return found == time_units.end() ? time_units.back() : *found;
}

// 1, 2 or 5 times a power of ten, at least `least`.
store::time_ns round_step(double least) {
    auto const power = std::pow(10.0, std::floor(std::log10(std::max(least, 1.0))));
    for (auto const factor : {1.0, 2.0, 5.0, 10.0})
        if (power * factor >= least) return static_cast<store::time_ns>(std::llround(power * factor));
    return static_cast<store::time_ns>(std::llround(power * 10));
}

std::string decimal(double value, char const* name) {
    auto text = fmt::format("{:.9f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text + " " + name;
}

store::time_ns floor_to(store::time_ns value, store::time_ns step) {
    auto const rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

}  // namespace

time_axis time_ticks(store::time_ns from, store::time_ns to, int most) {
    time_axis out;
    if (to <= from || most < 1) return out;
    out.step = round_step(static_cast<double>(to - from) / most);
    auto const u = unit_for(out.step);
    // Whole times get long where the step is small against them; then they count from a base.
    auto const coarse = std::max<store::time_ns>(u.length * 1000, 1);
    bool const relative = u.length < 1'000'000'000 && from >= coarse * 10;
    auto const base = relative ? floor_to(from, coarse) : 0;
    if (relative) out.base = decimal(static_cast<double>(base) / 1e9, "s");
    for (auto at = floor_to(from + out.step - 1, out.step); at <= to; at += out.step) {
        auto const text = decimal(static_cast<double>(at - base) / static_cast<double>(u.length), u.name);
        out.ticks.push_back({at, relative ? "+" + text : text});
    }
    return out;
}

std::string value_text(std::uint64_t value, unit of) {
    if (of == unit::bytes) return value == 0 ? "0" : findings::bytes_text(value);
    return findings::counted(static_cast<std::int64_t>(value));
}

std::string length_text(store::time_ns length) {
    auto const u = unit_for(length);
    auto const value = static_cast<double>(length) / static_cast<double>(u.length);
    // Four digits say enough.
    auto const digits = value >= 100 ? 1 : value >= 10 ? 2 : 3;
    return decimal(std::round(value * std::pow(10, digits)) / std::pow(10, digits), u.name);
}

std::vector<value_tick> value_ticks(std::uint64_t greatest, unit of, int most) {
    auto const least = std::max(static_cast<double>(greatest) / std::max(most, 1), 1.0);
    auto const step =
        of == unit::bytes ? std::exp2(std::ceil(std::log2(least))) : static_cast<double>(round_step(least));
    auto const each = static_cast<std::uint64_t>(step);
    std::vector<value_tick> out;
    for (std::uint64_t at = 0;; at += each) {
        out.push_back({at, value_text(at, of)});
        if (at >= greatest && at > 0) return out;
    }
}

}  // namespace lastref::curves
