// What lies beside the program `lastref`, in the build folder as where it is installed.
#pragma once

#include <filesystem>

namespace lastref::cli {

std::filesystem::path this_program();              // bin/lastref
std::filesystem::path injected_library();          // lib/liblastref.so, or $LASTREF_LIBRARY
std::filesystem::path cupti_library();             // lib/liblastref_cupti.so
std::filesystem::path simulated_driver();          // lib/lastref/simdriver or lib/simdriver: holds its libcuda.so.1
std::filesystem::path workload(char const* name);  // lib/lastref/workloads/NAME or bin/workloads/NAME

}  // namespace lastref::cli
