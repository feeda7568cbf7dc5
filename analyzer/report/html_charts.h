// The charts of the HTML report: SVG whose places are percentages, so that text keeps its size on any screen. Colours
// are classes of the page's style sheet.
#pragma once

#include "analyzer/report/render.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lastref::report {

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
