#include "analyzer/curves/marks.h"

#include <algorithm>

namespace lastref::curves {
namespace {

// Empty for steps that are not shown.
char const* name_of(store::phase_step step) {
    switch (step) {
        case store::phase_step::driver_found:
            return "driver found";
        case store::phase_step::driver_initialized:
            return "driver initialized";
        case store::phase_step::exit_begin:
            return "main returned";
        case store::phase_step::driver_torn_down:
            return "driver shut down";
        case store::phase_step::end:
            return "end";
        case store::phase_step::exec:
            return "another program";
        case store::phase_step::python_initialized:
            return "Python initialized";
        case store::phase_step::python_finalizing:
            return "Python ends";
        case store::phase_step::python_finalized:
            return "Python has ended";
        case store::phase_step::other:
            break;
    }
    return "";
}

}  // namespace

std::vector<mark> marks_of(store::trace const& trace) {
    std::vector<mark> out;
    for (auto const& p : trace.phases())
        if (*name_of(p.what) != '\0') out.push_back({p.process, p.at, p.what, name_of(p.what)});
    std::stable_sort(out.begin(), out.end(), [](mark const& a, mark const& b) { return a.at < b.at; });
    return out;
}

}  // namespace lastref::curves
