#include "analyzer/timeline/uses.h"

#include "analyzer/model/process_state.h"

namespace lastref::timeline {
namespace {

bool is_followed(model::object_kind kind) {
    using k = model::object_kind;
    switch (kind) {
        case k::stream_ordered:
        case k::imported_pointer:
        case k::pinned:
        case k::registered:
            return true;
        default:
            return false;
    }
}

bool is_use(event_kind kind) {
    return kind == event_kind::copy || kind == event_kind::memory_set || kind == event_kind::prefetch;
}

}  // namespace

void uses::add(model::object const* memory, model::event const& e, bool allocation) {
    if (memory == nullptr || !is_followed(memory->kind)) return;
    auto const work = order_.work(e);
    auto& known = uses_[memory->id];
    // An earlier use on the same stream, or one that is done, adds nothing to this one.
    std::erase_if(known, [&](use const& u) {
        return !allocation && (u.work.stream == work.stream || (!u.allocation && order_.completed(u.work)));
    });
    if (order_.completed(work) || known.size() == most_streams) return;
    known.push_back({work, e.where(), allocation});
}

void uses::on_event(model::process_state const& process, model::event const& e) {
    if (!e.row.succeeded() || e.stream.kind == model::stream_kind::none || process.capturing(e.stream)) return;
    if (e.kind() == event_kind::memory_alloc_async) return add(e.subject, e, true);
    if (!is_use(e.kind())) return;
    add(e.subject, e, false);
    if (e.related != e.subject) add(e.related, e, false);
}

void uses::on_released(model::process_state const&, model::object const& gone, model::event const&,
                       model::release_cause) {
    uses_.erase(gone.id);
}

std::vector<use> const& uses::of(model::object_id memory) const {
    static std::vector<use> const none;
    auto const found = uses_.find(memory);
    return found == uses_.end() ? none : found->second;
}

}  // namespace lastref::timeline
