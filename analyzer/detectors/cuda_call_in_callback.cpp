#include "analyzer/detectors/cuda_call_in_callback.h"

#include "analyzer/detectors/releases.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

bool is_callback(event_kind kind) {
    return kind == event_kind::callback_user_object || kind == event_kind::callback_host_function ||
           kind == event_kind::callback_stream;
}

char const* name_of_callback(event_kind kind) {
    switch (kind) {
        case event_kind::callback_user_object:
            return "user-object destructor";
        case event_kind::callback_host_function:
            return "host function";
        case event_kind::callback_stream:
            return "stream callback";
        default:
            return "callback";
    }
}

// Part of the fingerprint, which must outlive new kinds of event: an unknown callback keeps the number that it has had.
std::uint64_t number_of(event_kind kind) {
    constexpr std::uint64_t unknown = 112;
    return kind == event_kind::count ? unknown : static_cast<std::uint64_t>(kind);
}

}  // namespace

void cuda_call_in_callback::on_event(model::process_state const&, model::event const& e) {
    if (is_callback(e.kind())) {
        latest_[e.row.thread] = {e.where(), e.kind(), e.row.extra};
        return;
    }
    if ((e.row.flags & store::event_flag::in_callback) == 0 || is_beside_driver(e.kind())) return;
    inner_call found{e.where(), {}, event_kind::count, 0};
    if (auto const inside = latest_.find(e.row.thread); inside != latest_.end()) {
        found.callback = inside->second.where;
        found.callback_kind = inside->second.kind;
        found.function = inside->second.function;
    }
    auto const key = findings::hash()
                         .add(api_of(found.call).name)
                         .add(static_cast<std::uint64_t>(e.row.result))
                         .add(number_of(found.callback_kind))
                         .add(place_of(found.call))
                         .value();
    groups_.of(e.process, key, found).all.add(e.row.begin);
    if (is_refused_release(e) && e.subject != nullptr) left_[e.subject->id] = {key, *e.subject};
}

void cuda_call_in_callback::on_released(model::process_state const&, model::object const& gone, model::event const&,
                                        model::release_cause) {
    if (!left_.empty()) left_.erase(gone.id);
}

void cuda_call_in_callback::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
    std::erase_if(left_, [&](auto const& l) { return l.second.what.process == process.process().id; });
}

void cuda_call_in_callback::add_left_behind(finding& out, std::uint64_t key, std::vector<model::object_id>& ids) const {
    findings::consequence left;
    left.from = rule::failed_free;
    for (auto const& [id, each] : left_) {
        if (each.group != key || each.what.process != out.process) continue;
        if (left.count++ == 0 && each.what.created.event) left.sites.push_back(site_of("made", each.what.created));
        if (model::is_memory(each.what.kind)) left.bytes += each.what.bytes;
        ids.push_back(id);
    }
    if (left.count == 0) return;
    left.text = fmt::format("{} that it was to release stayed, and nobody released {} later",
                            findings::counted(left.count, "object"), left.count == 1 ? "it" : "them");
    if (left.bytes > 0) left.text += fmt::format(" ({})", findings::bytes_text(left.bytes));
    out.bytes += left.bytes;
    out.consequences.push_back(std::move(left));
}

void cuda_call_in_callback::report(model::process_state const& process, std::uint64_t key,
                                   groups<inner_call>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::cuda_call_in_callback, process, g.all, key);
    bool const refused = f.call.result > 0;
    auto const where = name_of_callback(f.callback_kind);
    out.severity = refused ? severity::error : severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = "the call was recorded between the callback's begin and end, on its thread";
    out.title = fmt::format("{} called inside a {}{}", api_of(f.call).name, where, refused ? ", and refused" : "");
    if (g.all.count > 1)
        out.title += fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count)));
    out.what.push_back(fmt::format("The driver ran a {}{} on {}; in it {} was called, and answered {}.", where,
                                   f.function == 0 ? std::string{} : called(process, f.function), thread_of(f.call),
                                   api_of(f.call).symbol,
                                   f.call.result == 0 ? "success" : findings::result_text(f.call.result)));
    out.why =
        "Inside its callbacks the driver refuses calls, whichever they are: its own thread would wait for itself. What "
        "such a call was to release stays.";
    out.advice = "Let the callback put the object into a queue, and release it from an ordinary thread.";
    out.sites.push_back(site_of(refused ? "refused" : "called", f.call));
    if (f.callback.event) out.sites.push_back(site_of("callback began", f.callback));
    std::vector<model::object_id> ids;
    add_left_behind(out, key, ids);
    auto const index = file_.found.add(std::move(out));
    for (auto const id : ids) file_.found.explain(id, index);
}

}  // namespace lastref::detectors
