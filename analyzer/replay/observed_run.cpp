#include "analyzer/replay/observed_run.h"

#include <algorithm>
#include <utility>

namespace lastref::replay {
namespace {

// What a clean-up may do beside its frees: restore a context, wait for a stream, give back other things.
bool belongs_to_clean_up(model::event const& e) {
    using enum store::verb;
    auto const verb = e.api.verb;
    return verb == destroy || verb == release || verb == wait || verb == query || verb == run ||
           e.kind() == event_kind::context_bind;
}

}  // namespace

void observed_run::callback(detectors::payload_links const& links, model::event const& e) {
    auto const* link = e.subject ? links.of_user_object(e.subject->id) : nullptr;
    if (link == nullptr || !waiting_.destructor_ran(*link, e)) {
        ++side_.unknown;
        return;
    }
    ++(link->by_address ? side_.by_address : side_.by_nearness);
    side_.most_waiting = std::max<std::uint64_t>(side_.most_waiting, waiting_.size());
}

void observed_run::call(model::event const& e, bool inside) {
    if (drains_.empty() || inside) return;
    auto const open = drains_.find(e.row.thread);
    if (open != drains_.end() && (open->second.in_pending_call || !belongs_to_clean_up(e))) close(open->second);
}

void observed_run::drain_begins(model::event const& e) {
    auto& d = drains_[e.row.thread];
    close(d);
    d.in_pending_call = true;
}

void observed_run::released(model::object const& gone, model::event const& e, model::release_cause cause, bool inside) {
    if (!model::is_memory(gone.kind)) return;
    auto const payload = waiting_.gone(gone.id);
    if (!payload) return;
    if (cause == model::release_cause::call)
        clean_up(*payload, e, inside);
    else
        ++side_.gone_otherwise;
}

void observed_run::clean_up(detectors::waiting_payload const& payload, model::event const& e, bool inside) {
    delays_.add(since(payload.destructor.at, e.row.begin));
    auto& d = drains_[e.row.thread];
    if (!inside && d.size > 0 && payload.destructor.at > d.begun) close(d);
    if (d.size++ == 0) d.begun = e.row.begin;
}

void observed_run::close(drain& d) {
    if (d.size > 0) sizes_.add(d.size);
    d = {};
}

observed_side observed_run::finish() {
    for (auto& [thread, d] : drains_) close(d);
    side_.drains = sizes_.summary();
    side_.delay = delays_.summary();
    side_.left = waiting_.size();
    side_.left_bytes = waiting_.bytes();
    return side_;
}

}  // namespace lastref::replay
