#include "analyzer/detectors/pinned_free_in_flight.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void pinned_free_in_flight::on_event(model::process_state const&, model::event const& e) {
    bool const frees = e.kind() == event_kind::host_free || e.kind() == event_kind::host_unregister;
    if (!frees || !e.row.succeeded() || e.subject == nullptr) return;
    timeline::use const* running = nullptr;
    for (auto const& use : file_.uses.of(e.subject->id))
        if (!file_.order.completed(use.work)) running = &use;
    if (running == nullptr) return;
    in_flight const found{*e.subject, *running, e.where()};
    auto const key = findings::hash()
                         .add(place_of(found.memory.created))
                         .add(place_of(found.use.call))
                         .add(place_of(found.freed))
                         .value();
    groups_.of(e.process, key, found).all.add(e.row.begin, e.subject);
}

void pinned_free_in_flight::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void pinned_free_in_flight::report(model::process_state const& process, std::uint64_t key,
                                   groups<in_flight>::group const& g) {
    auto const& f = g.first;
    bool const registered = f.memory.kind == model::object_kind::registered;
    auto out = finding_of(rule::pinned_free_in_flight, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = confidence::likely;
    out.confidence_reason =
        "nothing that was recorded waited for the stream after the copy; the driver may wait in the free, but does not "
        "promise to, and a host that polls memory for the end cannot be seen";
    out.title = fmt::format("{} {} while a copy may still use {}",
                            findings::counted(g.all.count, registered ? "range of host memory" : "pinned buffer"),
                            registered ? "unregistered" : "freed", g.all.count == 1 ? "it" : "them");
    out.what.push_back(fmt::format("{} was last used by {} on {} at {}, and {} at {}.",
                                   findings::handle_text(f.memory.handle), api_of(f.use.call).symbol,
                                   stream_of(f.use.call), findings::time_text(f.use.call.at),
                                   registered ? "unregistered" : "freed", findings::time_text(f.freed.at)));
    out.what.push_back("In between, the host waited neither for that stream nor for an event recorded on it since.");
    out.why =
        "An asynchronous copy goes on after the call has returned. What it reads or writes must stay until it is done; "
        "the pages may belong to somebody else by then.";
    out.advice = fmt::format("Before the free, synchronize {} or an event recorded on it after the copy.",
                             stream_of(f.use.call));
    out.sites.push_back(site_of(registered ? "registered" : "allocated", f.memory.created));
    out.sites.push_back(site_of("last used", f.use.call, on_stream(f.use.call)));
    out.sites.push_back(site_of(registered ? "unregistered" : "freed", f.freed));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
