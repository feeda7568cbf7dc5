#include "analyzer/cli/variables.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lastref::cli {
namespace {

// Set by `record` for the collector.
constexpr std::array internal_variables{std::string_view("LASTREF_DRAINED"), std::string_view("LASTREF_CUPTI")};

}  // namespace

std::vector<variable_text> const& variables() {
    static std::vector<variable_text> const all{
        {"LASTREF_ARGS", "off: the values of arguments are left out of the trace, as with record --no-args."},
        {"LASTREF_CUPTI_LIBRARY", "The libcupti to load, for record --audit and --cupti."},
        {"LASTREF_DISABLE", "1: the preloaded library records nothing."},
        {"LASTREF_DURATIONS",
         "all: every call takes a stamp at its begin and one at its end; long (the default): short and frequent calls "
         "take "
         "one."},
        {"LASTREF_LIBRARY", "The collector to preload, instead of liblastref.so in lib beside bin."},
        {"LASTREF_OUTPUT", "The trace of a program that has the collector in LD_PRELOAD without lastref record."},
        {"LASTREF_PROGRAM", "The lastref that such a program starts to write its trace."},
        {"LASTREF_PYTHON_FRAMES",
         "0: call stacks show the interpreter's own frames instead of the program's Python lines."},
        {"LASTREF_QUIET", "1: such a program does not say where its trace goes."},
        {"LASTREF_SPOOL_DIR", "The folder of its spools. No drain is started: lastref import makes a trace of them."},
        {"LASTREF_SPOOL_MAX", "The largest size of a process's spool, such as 512M; 4G where it is not set."},
        {"LASTREF_STACKS", "off, create or all, as record --stacks."},
        {"LASTREF_VERIFY",
         "1: current contexts and call stacks are compared with what the driver and libgcc say. Slow."},
    };
    return all;
}

bool is_known_variable(std::string const& name) {
    return name.starts_with("LASTREF_SIM_") || std::ranges::count(internal_variables, name) > 0 ||
           std::ranges::any_of(variables(), [&](auto const& each) { return name == each.name; });
}

}  // namespace lastref::cli
