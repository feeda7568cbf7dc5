#include "analyzer/detectors/graph_exec_growth.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {

using findings::counted;

void graph_exec_growth::on_event(model::process_state const&, model::event const& e) {
    if (!is_creation(e) || e.subject->kind != model::object_kind::graph_exec) return;
    places_[{e.process, e.row.stack}].add(e.row.begin);
}

void graph_exec_growth::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                                    model::release_cause) {
    if (gone.kind != model::object_kind::graph_exec) return;
    places_[{gone.process, gone.created.stack}].remove(e.row.begin);
}

void graph_exec_growth::on_process_end(model::process_state const& process) {
    std::map<store::stack_id, std::vector<model::object>> live;
    process.graphs().for_each([&](model::graphs::part const& p) {
        if (!p.parent && p.self.kind == model::object_kind::graph_exec) live[p.self.created.stack].push_back(p.self);
    });
    auto const end = std::max(process.last_time(), process.process().last_time.value_or(0));
    for (auto& [stack, execs] : live) {
        auto const& h = places_[{process.process().id, stack}];
        if (!h.grows(process.first_event(), end)) continue;
        std::sort(execs.begin(), execs.end(), [](auto const& a, auto const& b) { return a.id < b.id; });
        report(process, findings::hash().add(place_of(execs.front().created)).value(), h, execs.front(), execs);
    }
    std::erase_if(places_, [&](auto const& p) { return p.first.first == process.process().id; });
}

void graph_exec_growth::report(model::process_state const& process, std::uint64_t key, population const& h,
                               model::object const& first, std::vector<model::object> const& live) {
    tally all;
    for (auto const& each : live) all.add(each.created.at, &each);
    auto out = finding_of(rule::graph_exec_growth, process, all, key);
    out.severity = severity::error;
    out.confidence = confidence::likely;
    out.confidence_reason = "the number alive from this place rose in every quarter of the run";
    if (!ended_orderly(process)) out.severity = severity::warning;
    auto const seconds = static_cast<double>(std::max<store::time_ns>(all.last - all.first, 1)) / 1e9;
    auto const rate = static_cast<double>(all.count) / seconds;
    out.title = fmt::format("{} alive at the end, and more all the time", counted(all.count, "executable graph"));
    auto const destroyed = h.gone() == 0   ? std::string("none was destroyed")
                           : h.gone() == 1 ? std::string("1 was destroyed")
                                           : counted(static_cast<std::int64_t>(h.gone())) + " were destroyed";
    out.what.push_back(fmt::format("Of {} instantiated at this place, {}; about {:.0f} more a second were kept.",
                                   counted(static_cast<std::int64_t>(h.made())), destroyed, rate));
    out.why =
        "Every executable graph takes memory of the host and of the device. What is instantiated for each new shape or "
        "key and never destroyed uses up one of the two in the end.";
    out.advice =
        "Destroy an executable graph when its key goes (cuGraphExecDestroy), bound the cache, or update one in place "
        "(cuGraphExecUpdate).";
    out.sites.push_back(site_of("first instantiated", first.created));
    auto const index = file_.found.add(std::move(out));
    for (auto const& each : live) file_.found.explain(each.id, index);
}

}  // namespace lastref::detectors
