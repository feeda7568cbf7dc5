// The single checks of the machine, in the order in which they are shown.
#pragma once

#include "analyzer/cli/doctor/check.h"

namespace lastref::cli::doctor {

// cuda.cpp: what is loaded from elsewhere
check driver_check();
check toolkit_check();
check cupti_check();

// own_parts.cpp: lastref's own parts, and what they need
check collector_check();
check libc_check();
check simulator_check();

// surroundings.cpp: the environment and the system
check injection_check();
check settings_check();
check spool_check();
check memory_check();
check temporary_check();
check limits_check();
check permission_check();
check clock_check();
check counters_check();
check python_check();

}  // namespace lastref::cli::doctor
