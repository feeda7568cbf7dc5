// The memory charts of the HTML report.
#pragma once

#include "analyzer/report/render.h"

#include <string>

namespace lastref::report {

// Memory that was allocated over the time of the recording, as a whole and by pool, with the steps of the process's
// end; empty where the input has no curves, or nothing was allocated.
std::string memory_section(input const& in);

}  // namespace lastref::report
