#include "analyzer/detectors/ptds_graph_attach.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void ptds_graph_attach::on_event(model::process_state const& process, model::event const& e) {
    if (e.kind() == event_kind::graph_retain_user_object && e.row.succeeded() && e.subject != nullptr) {
        auto const* link = file_.links.of_user_object(e.subject->id);
        if (link == nullptr || link->memory.created.stream.kind != model::stream_kind::per_thread) return;
        attached_.try_emplace(link->memory.id, attachment{e.where(), link->created, link->by_address});
        return;
    }
    if (attached_.empty() || e.subject == nullptr) return;
    auto const found = attached_.find(e.subject->id);
    if (found == attached_.end()) return;
    auto const pair = unordered_use(file_, process, e);
    if (!pair) return;
    file_.found.claim(e.subject->id);
    auto const key = findings::hash()
                         .add(place_of(pair->memory.created))
                         .add(place_of(found->second.retained))
                         .add(place_of(pair->freed))
                         .value();
    groups_.of(e.process, key, {found->second, *pair}).all.add(e.row.begin, e.subject);
}

void ptds_graph_attach::on_released(model::process_state const&, model::object const& gone, model::event const&,
                                    model::release_cause) {
    if (attached_.erase(gone.id) > 0) file_.found.give_up(gone.id);
}

void ptds_graph_attach::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void ptds_graph_attach::report(model::process_state const& process, std::uint64_t key, groups<case_>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::ptds_graph_attach, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = f.how.by_address ? confidence::likely : confidence::possible;
    out.confidence_reason = f.how.by_address
                                ? "the user object's payload is this memory, and nothing orders its free"
                                : "nothing orders the free; that the user object stands for this memory is "
                                  "inferred: same thread, same function, allocated just before";
    out.title = fmt::format("{} of a per-thread default stream given to a graph, and freed with no order",
                            findings::counted(g.all.count, "buffer"));
    order_story(file_).tell(out, f.pair);
    out.sites.insert(out.sites.begin() + 1, site_of("given to a graph", f.how.retained));
    out.why =
        "A graph releases its payloads whenever its last reference goes, on whichever thread that is. What the "
        "destructor hands on is freed by some other thread, on which the per-thread token means another stream.";
    out.advice =
        "Allocate payloads of graphs on a created stream and keep that stream with them; or record an event after the "
        "last "
        "use, and let the thread that cleans up wait for it.";
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
