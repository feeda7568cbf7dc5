// Driver calls that came past the hooks: which module made them.
#pragma once

#include <cstdint>

#include "schema/cupti_file.h"

namespace lastref::cupti::strays {

// Before the first call is told.
void prepare(cupti_file::header& header);

// On the thread that makes the call, as it enters the driver.
void look_at(std::uint32_t call);

}  // namespace lastref::cupti::strays
