// What liblastref_cupti.so counted and recorded, into the trace: schema/cupti_file.h says how it is kept.
#pragma once

#include <filesystem>

#include "collector/drain/trace_file.h"

namespace lastref::drain {

// Takes every `*.cupti` of the folder whose process is in the trace, in one transaction a file, and removes it. What is
// no such file, or damaged, is left and counted as a loss of the trace. Throws database_error; then the file is still
// there.
void take_cupti_files(std::filesystem::path const& folder, trace_file& trace);

}  // namespace lastref::drain
