#include "analyzer/detectors/steady_state_allocation.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

// Memory from a pool is handed out without the driver's memory manager, unless the pool has to grow.
bool from_the_driver(model::object_kind kind) {
    using k = model::object_kind;
    switch (kind) {
        case k::device:
        case k::managed:
        case k::pinned:
        case k::registered:
        case k::physical:
        case k::array:
        case k::mipmapped_array:
            return true;
        default:
            return false;
    }
}

}  // namespace

void steady_state_allocation::on_event(model::process_state const& process, model::event const& e) {
    if (!is_creation(e) || !from_the_driver(e.subject->kind) || !file_.warming.over(process, e)) return;
    auto const key = findings::hash().add(place_of(e.where())).add(e.api.name).value();
    groups_.of(e.process, key, e.where()).all.add(e.row.begin, e.subject);
}

void steady_state_allocation::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void steady_state_allocation::report(model::process_state const& process, std::uint64_t key,
                                     groups<model::origin>::group const& g) {
    auto out = finding_of(rule::steady_state_allocation, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = file_.warming.reason(process.process().id);
    out.title = fmt::format("{} of {} by {} after warm-up", findings::counted(g.all.count, "allocation"),
                            findings::bytes_text(g.all.bytes), api_of(g.first).name);
    out.what.push_back(fmt::format("The first was made by {} at {}, the last at {}.", thread_of(g.first),
                                   findings::time_text(g.all.first), findings::time_text(g.all.last)));
    out.why =
        "Such a call goes to the driver's memory manager: it takes long, and often waits for everything that runs on "
        "the "
        "device.";
    out.advice = "Allocate before the work begins and keep the memory, or take it from a pool (cuMemAllocAsync).";
    out.sites.push_back(site_of("allocated", g.first));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
