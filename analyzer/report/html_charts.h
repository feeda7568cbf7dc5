// The charts of the HTML report: SVG whose places are percentages, so that text keeps its size on any screen. Colours
// are classes of the page's style sheet.
#pragma once

#include "analyzer/report/render.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::report {

// A part of the recording, as the width of a chart with room for what stands at both ends.
struct time_axis {
    store::time_ns begin = 0;
    store::time_ns end = 1;

    double at(store::time_ns time) const;  // in percent of the chart's width
};

// Opens an SVG as wide as its place; `title` is escaped here.
std::string open_svg(std::size_t height, std::string_view title);

// Where main ended and where the driver shut down, as lines down to `bottom` below their names; nothing for several
// processes, whose steps are no marks that the eye could use.
std::string phase_lines(input const& in, time_axis const& time, std::size_t bottom);

struct bar {
    std::string label;  // as it is; escaped here
    std::string value;  // what stands at the end of the line
    std::uint64_t size = 0;
    std::string style;  // class of the bar: "error", "warning", "note", "plain"
};

// Bars with their labels above them, longest first as given; empty where there is none.
std::string bar_chart(std::vector<bar> const& bars, std::string_view title);

// When each of the open findings was seen first and last, on the time of the recording, with the steps of the process's
// end; rows link to the findings' cards ("#f1").
std::string timeline_chart(input const& in, std::vector<std::size_t> const& open);

}  // namespace lastref::report
