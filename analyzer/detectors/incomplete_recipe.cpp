#include "analyzer/detectors/incomplete_recipe.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void incomplete_recipe::on_event(model::process_state const& process, model::event const& e) {
    if (!frees_under_another_context(process, e)) return;
    ambient_free found{*e.subject, e.where(), true};
    for (auto const& use : file_.uses.of(e.subject->id)) found.in_order &= file_.order.before(use.work, e.stream);
    auto const key = findings::hash()
                         .add(place_of(found.memory.created))
                         .add(place_of(found.freed))
                         .add(found.in_order ? 1 : 0)
                         .value();
    groups_.of(e.process, key, found).all.add(e.row.begin, e.subject);
}

void incomplete_recipe::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void incomplete_recipe::report(model::process_state const& process, std::uint64_t key,
                               groups<ambient_free>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::incomplete_recipe, process, g.all, key);
    out.severity = f.in_order ? severity::note : severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = "both calls were recorded with the context that was current";
    out.title = fmt::format("{} freed by a default-stream token under another context than {}",
                            findings::counted(g.all.count, "buffer"), g.all.count == 1 ? "its own" : "their own");
    out.what.push_back(fmt::format("{} was allocated under {} and freed on {} while {} was current.",
                                   findings::handle_text(f.memory.handle),
                                   context_of(f.memory.created.context, f.memory.created.event), stream_of(f.freed),
                                   context_of(f.freed.context, f.freed.event)));
    out.what.push_back(f.in_order ? "The host, or an event, had ordered the two, so that this free did no harm."
                                  : "Nothing orders that stream after the memory's last use.");
    out.why =
        "A default-stream token names the default stream of whatever context is current: the free took effect in a "
        "stream "
        "of another context than the one that the memory's work runs in.";
    out.advice =
        "Keep stream and context with the allocation. Before the free, make that context current (cuCtxPushCurrent, "
        "afterwards cuCtxPopCurrent), or use a created stream, which carries its context.";
    out.sites.push_back(site_of("allocated", f.memory.created, on_stream(f.memory.created)));
    out.sites.push_back(site_of("freed", f.freed, on_stream(f.freed)));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
