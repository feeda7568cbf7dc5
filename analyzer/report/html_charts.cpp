#include "analyzer/report/html_charts.h"

#include "analyzer/findings/wording.h"
#include "analyzer/report/escape.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::report {
namespace {

// SVG does not cut text off: what a phone shows of it has about so many letters.
std::string cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
    return fmt::format("{}…", text.substr(0, most));
}

// --- timeline --------------------------------------------------------------------------------------------------------

constexpr std::size_t row_height = 38, head_height = 34;
constexpr std::size_t most_rows = 16;

time_axis axis_of(input const& in) {
    time_axis out;
    for (auto const id : in.what.used_driver) out.end = std::max(out.end, in.trace.at(id).last_time.value_or(0));
    for (auto const& f : in.what.found) out.end = std::max(out.end, f.last_seen);
    return out;
}

char const* name_of(store::phase_step step) {
    switch (step) {
        case store::phase_step::exit_begin:
            return "main ended";
        case store::phase_step::driver_torn_down:
            return "driver shut down";
        default:
            return nullptr;
    }
}

// A bar for what lasted, a dot for what was seen once.
std::string mark(std::string_view style, double from, double to, std::size_t y) {
    if (to - from < 1) return fmt::format("<circle class=\"{}\" cx=\"{:.2f}%\" cy=\"{}\" r=\"4.5\"/>", style, from, y);
    return fmt::format("<rect class=\"{}\" x=\"{:.2f}%\" y=\"{}\" width=\"{:.2f}%\" height=\"8\" rx=\"4\"/>", style,
                       from, y - 4, to - from);
}

std::string row(input const& in, time_axis const& time, std::size_t i, std::size_t number) {
    auto const& f = in.what.found[i];
    auto const y = head_height + (number - 1) * row_height;
    auto const from = time.at(f.first_seen), to = time.at(f.last_seen);
    bool const right = from > 55;
    return fmt::format(
        "<a href=\"#f{0}\"><title>{1}</title>"
        "<text x=\"{2:.2f}%\" dx=\"{3}\" y=\"{4}\" text-anchor=\"{5}\"><tspan class=\"number\">{0}</tspan> "
        "{6}</text>{7}</a>\n",
        number, xml_escaped(f.title), right ? to : from, right ? -8 : 0, y + 16, right ? "end" : "start",
        info(f.rule).name, mark(findings::name_of(f.severity), from, to, y + 26));
}

}  // namespace

double time_axis::at(store::time_ns time) const {
    auto const length = std::max(static_cast<double>(end) - static_cast<double>(begin), 1.0);
    return 2 + 96 * std::clamp((static_cast<double>(time) - static_cast<double>(begin)) / length, 0.0, 1.0);
}

std::string open_svg(std::size_t height, std::string_view title) {
    return fmt::format("<svg role=\"img\" width=\"100%\" height=\"{}\" aria-label=\"{}\">\n", height,
                       xml_escaped(title));
}

std::string phase_lines(input const& in, time_axis const& time, std::size_t bottom) {
    std::string out;
    if (in.what.used_driver.size() != 1) return out;
    for (auto const& phase : in.trace.phases()) {
        auto const* const name = name_of(phase.what);
        if (name == nullptr || phase.process != in.what.used_driver.front()) continue;
        bool const late = phase.what == store::phase_step::driver_torn_down;
        out += fmt::format(
            "<line class=\"phase\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"{1}\" y2=\"{2}\"/>\n"
            "<text class=\"dim\" x=\"{0:.2f}%\" y=\"{3}\" text-anchor=\"end\">{4}</text>\n",
            time.at(phase.at), late ? 18 : 32, bottom, late ? 13 : 28, name);
    }
    return out;
}

std::string timeline_chart(input const& in, std::vector<std::size_t> const& open) {
    if (open.empty()) return {};
    auto const time = axis_of(in);
    auto const rows = std::min(open.size(), most_rows);
    auto const height = head_height + rows * row_height + 24;
    auto out = open_svg(height, "When each finding was seen, from the start of the recording to its end");
    out += phase_lines(in, time, height - 18);
    for (std::size_t i = 0; i < rows; ++i) out += row(in, time, open[i], i + 1);
    out += fmt::format(
        "<line class=\"axis\" x1=\"2%\" x2=\"98%\" y1=\"{0}\" y2=\"{0}\"/>"
        "<text class=\"dim\" x=\"2%\" y=\"{1}\">0 s</text><text class=\"dim\" x=\"98%\" y=\"{1}\" "
        "text-anchor=\"end\">{2}</text>\n",
        height - 18, height - 3, findings::time_text(time.end));
    return out + "</svg>\n";
}

std::string bar_chart(std::vector<bar> const& bars, std::string_view title) {
    if (bars.empty()) return {};
    constexpr std::size_t each = 40;
    std::uint64_t most = 1;
    for (auto const& b : bars) most = std::max(most, b.size);
    auto out = open_svg(bars.size() * each, title);
    std::size_t y = 0;
    for (auto const& b : bars) {
        auto const width = std::max(100.0 * static_cast<double>(b.size) / static_cast<double>(most), 0.8);
        out += fmt::format(
            "<g><title>{}</title><text x=\"0\" y=\"{}\">{}</text><text class=\"dim\" x=\"100%\" y=\"{}\" "
            "text-anchor=\"end\">{}</text>"
            "<rect class=\"track\" x=\"0\" y=\"{}\" width=\"100%\" height=\"8\" rx=\"4\"/>"
            "<rect class=\"{}\" x=\"0\" y=\"{}\" width=\"{:.2f}%\" height=\"8\" rx=\"4\"/></g>\n",
            xml_escaped(b.label), y + 14, xml_escaped(cut(b.label, 32)), y + 14, xml_escaped(b.value), y + 21, b.style,
            y + 21, width);
        y += each;
    }
    return out + "</svg>\n";
}

}  // namespace lastref::report
