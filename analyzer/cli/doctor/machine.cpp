#include "analyzer/cli/doctor/check.h"
#include "analyzer/cli/doctor/parts.h"

namespace lastref::cli::doctor {

std::vector<limit> const& limits() {
    static std::vector<limit> const all{
        {"statically linked programs", "they have no loader that could preload the collector"},
        {"32-bit programs, and those for other processors", "the collector is a library for 64-bit x86"},
        {"programs that change user, group or capabilities when they start", "the loader ignores LD_PRELOAD in them"},
        {"programs linked with another C library than glibc", "the collector is made for glibc's loader"},
        {"a driver that is loaded with dlmopen", "nothing is preloaded into another namespace"},
        {"a second copy of the driver in one process",
         "its calls cannot be told from the first one's; they are counted"},
        {"processes that a daemon starts, as docker run has it", "they do not inherit the environment"},
        {"children whose environment lost LD_PRELOAD", "the collector is preloaded by that variable"},
        {"work inside kernels", "the hooks see driver calls, and CUPTI when a kernel ran"},
    };
    return all;
}

std::vector<check> examine_machine() {
    std::vector<check> result;
    for (auto const& one : {driver_check, collector_check, libc_check, toolkit_check, cupti_check, simulator_check,
                            injection_check, settings_check, spool_check, memory_check, temporary_check, limits_check,
                            permission_check, clock_check, counters_check, python_check})
        result.push_back(one());
    return result;
}

}  // namespace lastref::cli::doctor
