// The steps of processes' lives, as marks on an axis of time.
#pragma once

#include "analyzer/store/trace.h"

#include <string>
#include <vector>

namespace lastref::curves {

struct mark {
    store::process_id process;
    store::time_ns at = 0;
    store::phase_step what = store::phase_step::other;
    std::string text;  // "driver initialized"
};

// In order of time.
std::vector<mark> marks_of(store::trace const& trace);

}  // namespace lastref::curves
