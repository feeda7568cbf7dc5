#include "analyzer/report/html_memory.h"

#include "analyzer/curves/curves.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/html_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace lastref::report {
namespace {

using curves::chart;
using curves::series;

constexpr std::size_t most_pools = 6;
constexpr int columns = 240;                              // of a curve; a phone has not many more points
constexpr int width = 1000, height = 100, head_room = 4;  // of a curve's own coordinates
constexpr int top = 52, bottom = top + 110;               // of the curve in its chart, in pixels

// One curve in its own coordinates, which its SVG stretches to whatever width there is.
class pen {
  public:
    explicit pen(chart const& of)
        : begin_(sane(of.begin)), length_(std::max<store::time_ns>(sane(of.end) - begin_, 1)), most_(of.greatest()) {}

    // Every step of few, and of many what each column holds: its least and greatest value.
    std::string line(series const& s) const {
        if (s.steps().size() <= columns) return steps(s);
        std::string out;
        for (int i = 0; i < columns; ++i) {
            auto const held = s.over(edge(i), edge(i + 1));
            out += fmt::format("{}{:.1f}", out.empty() ? "M0 " : "V", y(held.least));
            out += fmt::format("V{:.1f}H{:.1f}", y(held.greatest), x(edge(i + 1)));
        }
        return out;
    }

    std::string area(series const& s) const {
        if (s.steps().size() <= columns) return fmt::format("{}V{}H{:.1f}Z", steps(s), height, x(s.steps().front().at));
        auto out = fmt::format("M0 {}", height);
        for (int i = 0; i < columns; ++i)
            out += fmt::format("V{:.1f}H{:.1f}", y(s.over(edge(i), edge(i + 1)).greatest), x(edge(i + 1)));
        return out + fmt::format("V{}Z", height);
    }

  private:
    std::string steps(series const& s) const {
        std::string out;
        for (auto const& each : s.steps())
            out += out.empty() ? fmt::format("M{:.1f} {}V{:.1f}", x(each.at), height, y(each.value))
                               : fmt::format("H{:.1f}V{:.1f}", x(each.at), y(each.value));
        return out + fmt::format("H{}", width);
    }
    // Of a damaged trace: differences must still be times.
    static store::time_ns sane(store::time_ns at) {
        constexpr auto most = store::time_ns{1} << 61;
        return std::clamp(at, -most, most);
    }
    store::time_ns edge(int column) const { return begin_ + static_cast<store::time_ns>(share(column) * length()); }
    static double share(int column) { return static_cast<double>(column) / columns; }
    double length() const { return static_cast<double>(length_); }
    double x(store::time_ns at) const {
        return width * std::clamp(static_cast<double>(sane(at) - begin_) / length(), 0.0, 1.0);
    }
    double y(std::uint64_t value) const {
        auto const of = static_cast<double>(std::max<std::uint64_t>(most_, 1));
        return height - (height - head_room) * static_cast<double>(value) / of;
    }

    store::time_ns begin_;
    store::time_ns length_;
    std::uint64_t most_;
};

// What is in use is an area; the rest are lines over it, in the style sheet's colours.
std::string_view style_of(series const& s, bool first) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> styles{
        {{"reserved", "reserved"}, {"release threshold", "threshold"}, {"used, as the driver says", "reported"}}};
    for (auto const& [name, style] : styles)
        if (s.name() == name) return style;
    return first ? "used" : "other";
}

std::string key(chart const& of) {
    std::string out;
    for (auto const& line : of.lines) {
        if (line.empty()) continue;
        out +=
            fmt::format("<span><i class=\"{}\"></i>{}, at most {}</span>", style_of(line, &line == &of.lines.front()),
                        xml_escaped(line.name()), curves::value_text(line.greatest(), of.unit));
    }
    return "<p class=\"key\">" + out + "</p>\n";
}

std::string curve(chart const& of) {
    pen const draw(of);
    auto out = fmt::format(
        "<svg x=\"2%\" y=\"{}\" width=\"96%\" height=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">\n", top,
        bottom - top, width, height);
    for (auto const& line : of.lines) {
        if (line.empty()) continue;
        bool const first = &line == &of.lines.front();
        if (first) out += fmt::format("<path class=\"area used\" d=\"{}\"/>\n", draw.area(line));
        out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style_of(line, first), draw.line(line));
    }
    return out + "</svg>\n";
}

std::string axes(chart const& of) {
    return fmt::format(
        "<line class=\"axis\" x1=\"2%\" x2=\"98%\" y1=\"{0}\" y2=\"{0}\"/>"
        "<line class=\"axis\" x1=\"2%\" x2=\"98%\" y1=\"{1}\" y2=\"{1}\"/>"
        "<text class=\"dim\" x=\"2%\" y=\"{2}\">{3}</text><text class=\"dim\" x=\"2%\" y=\"{4}\">{5}</text>"
        "<text class=\"dim\" x=\"98%\" y=\"{4}\" text-anchor=\"end\">{6}</text>\n",
        top + head_room, bottom, top, curves::value_text(of.greatest(), of.unit), bottom + 16,
        curves::length_text(of.begin), curves::length_text(of.end));
}

std::string card(input const& in, chart const& of) {
    if (of.greatest() == 0) return {};
    return fmt::format("<div class=\"card\"><h3>{}</h3>\n{}{}{}{}{}</svg>\n</div>\n", xml_escaped(of.title), key(of),
                       open_svg(bottom + 22, of.title + " over the time of the recording"),
                       phase_lines(in, {of.begin, of.end}, bottom), curve(of), axes(of));
}

}  // namespace

std::string memory_section(input const& in) {
    if (in.drawn == nullptr) return {};
    auto out = card(in, in.drawn->memory);
    std::size_t left_out = in.drawn->pools_left_out, shown = 0;
    std::string parts;
    for (auto const& pool : in.drawn->pools) {
        if (shown == most_pools) {
            ++left_out;
            continue;
        }
        auto const html = card(in, pool);
        shown += html.empty() ? 0 : 1;
        parts += html;
    }
    for (auto const& device : in.drawn->graph_memory) parts += card(in, device);
    if (!parts.empty()) out += "<div class=\"charts\">\n" + parts + "</div>\n";
    if (left_out > 0) out += fmt::format("<p class=\"dim\">{} smaller pools are not shown.</p>\n", left_out);
    return out.empty() ? out : "<h2>Memory</h2>\n" + out;
}

}  // namespace lastref::report
