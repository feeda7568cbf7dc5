#include "analyzer/detectors/late_module_load.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void late_module_load::on_event(model::process_state const& process, model::event const& e) {
    bool const loads = e.kind() == event_kind::module_load || e.kind() == event_kind::library_load;
    if (!loads || !e.row.succeeded() || !file_.warming.over(process, e)) return;
    auto const key = findings::hash().add(place_of(e.where())).add(e.api.name).value();
    auto& g = groups_.of(e.process, key, {e.where(), 0});
    g.first.length = std::max(g.first.length, e.row.end() - e.row.begin);
    g.all.add(e.row.begin, e.subject);
}

void late_module_load::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void late_module_load::report(model::process_state const& process, std::uint64_t key, groups<load>::group const& g) {
    auto out = finding_of(rule::late_module_load, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = file_.warming.reason(process.process().id);
    out.title = fmt::format("{} by {} after warm-up, up to {} each", findings::counted(g.all.count, "load"),
                            api_of(g.first.call).name, findings::duration_text(g.first.length));
    out.what.push_back(
        fmt::format("The first was made by {} at {}.", thread_of(g.first.call), findings::time_text(g.all.first)));
    out.why =
        "Loading code copies it to the device and may compile it. With lazy loading that happens at the first launch "
        "of a "
        "kernel, in the middle of the work, and may wait for what runs.";
    out.advice =
        "Launch each kernel once during warm-up, or load eagerly (CUDA_MODULE_LOADING=EAGER) where the time matters.";
    out.sites.push_back(site_of("loaded", g.first.call));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
