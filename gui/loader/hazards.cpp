#include "gui/loader/hazards.h"

namespace lastref::gui {
namespace {

scenes::hazard_request request_for(finding_row const& f) {
    scenes::hazard_request out;
    out.rule = findings::info(f.rule).name;
    out.title = f.title;
    out.what = f.what;
    out.why = f.why;
    out.advice = f.advice;
    for (auto const& site : f.sites) out.sites.push_back({site.role, site.event});
    return out;
}

}  // namespace

std::vector<std::size_t> findings_about_order(loaded_trace const& trace) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < trace.findings.size(); ++i)
        if (scenes::is_about_order(findings::info(trace.findings[i].rule).name)) out.push_back(i);
    return out;
}

std::shared_ptr<scenes::hazard const> lanes_of(loaded_trace const& trace, std::size_t finding,
                                               scenes::watch const& go_on) {
    return scenes::build_hazard(store::trace::open(trace.path), request_for(trace.findings[finding]), go_on);
}

}  // namespace lastref::gui
