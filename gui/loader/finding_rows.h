// Findings as rows: everything that a page may show of one, in words.
#pragma once

#include "analyzer/report/render.h"
#include "gui/loader/rows.h"

#include <functional>

namespace lastref::gui {

// `tick` is called after each finding.
std::vector<finding_row> finding_rows(report::input const& in, std::function<void()> const& tick);

}  // namespace lastref::gui
