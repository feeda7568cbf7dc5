#include "analyzer/detectors/slow_callback.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

char const* name_of_callback(event_kind kind) {
    switch (kind) {
        case event_kind::callback_user_object:
            return "user-object destructor";
        case event_kind::callback_host_function:
            return "host function";
        default:
            return "stream callback";
    }
}

}  // namespace

void slow_callback::on_event(model::process_state const&, model::event const& e) {
    bool const is_callback = e.kind() == event_kind::callback_user_object ||
                             e.kind() == event_kind::callback_host_function || e.kind() == event_kind::callback_stream;
    if (!is_callback) return;
    bool const returned = e.row.duration != store::not_returned;
    if (returned && e.row.duration < slow) return;
    callback const found{e.where(), e.kind(), returned ? e.row.duration : 0, returned, e.row.extra};
    // Its code, wherever that was loaded: nothing else names a callback.
    auto const key = findings::hash()
                         .add(static_cast<std::uint64_t>(e.kind()))
                         .add(returned ? 1 : 0)
                         .add(file_.places.of_address(e.process, e.row.extra))
                         .value();
    auto& g = groups_.of(e.process, key, found);
    if (found.length > g.first.length) g.first = found;
    g.all.add(e.row.begin);
}

void slow_callback::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void slow_callback::report(model::process_state const& process, std::uint64_t key, groups<callback>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::slow_callback, process, g.all, key);
    auto const what = name_of_callback(f.kind);
    out.severity = f.returned ? severity::warning : severity::error;
    out.confidence = f.returned ? confidence::proven : confidence::likely;
    out.confidence_reason = f.returned ? "its begin and end were recorded"
                                       : "its begin was recorded and no end; the process may have ended just then";
    out.title = f.returned ? fmt::format("A {} took {}", what, findings::duration_text(f.length))
                           : fmt::format("A {} never returned", what);
    if (g.all.count > 1 && f.returned)
        out.title =
            fmt::format("{} took up to {}", findings::counted(g.all.count, what), findings::duration_text(f.length));
    auto const name = called(process, f.function);
    out.what.push_back(fmt::format("The {}{} began at {} on {}.", what,
                                   name.empty() ? " at " + findings::handle_text(f.function) : name,
                                   findings::time_text(f.call.at), thread_of(f.call)));
    out.why =
        "The driver runs destructors, host functions and callbacks one after the other on a thread that all share. "
        "While "
        "one waits, every other stream that has one pending waits too; one that waits for a lock whose holder is "
        "inside a "
        "driver call never ends.";
    out.advice =
        "Only signal in a callback: put the work into a queue and do it on a thread of your own. Take no lock that is "
        "held around driver calls.";
    out.sites.push_back(site_of("began", f.call));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
