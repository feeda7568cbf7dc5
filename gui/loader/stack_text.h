// Call stacks with names on them, from a trace of one's own: looking names up opens files and takes time.
#pragma once

#include "analyzer/report/render.h"
#include "gui/loader/rows.h"

namespace lastref::gui {

// As reports print it: the program's own frames, and of others what leads there.
std::vector<stack_row> stack_rows(report::input const& in, findings::site const& site);

}  // namespace lastref::gui
