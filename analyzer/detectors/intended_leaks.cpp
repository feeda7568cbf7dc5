#include "analyzer/detectors/intended_leaks.h"

namespace lastref::detectors {

void intended_leaks::on_event(model::process_state const&, model::event const& e) {
    if (!is_annotation(e.kind())) return;
    auto& here = programs_[e.process];
    switch (e.kind()) {
        case event_kind::annotation_intended_leak:
            here.named[e.row.object] = e.row.id;
            break;
        case event_kind::annotation_enqueue: {
            auto& q = here.queues[e.row.object];
            q.waiting.insert(e.row.other);
            if (q.stopped) here.named[e.row.other] = e.row.id;
            break;
        }
        case event_kind::annotation_clean:
            here.queues[e.row.object].waiting.erase(e.row.other);
            break;
        case event_kind::annotation_stop: {
            auto& q = here.queues[e.row.object];
            q.stopped = true;
            for (auto const item : q.waiting) here.named[item] = e.row.id;
            break;
        }
        default:
            break;
    }
}

bool intended_leaks::covers(store::process_id process, store::handle value, store::event_id since) const {
    auto const found = programs_.find(process);
    if (found == programs_.end()) return false;
    auto const at = found->second.named.find(value);
    return at != found->second.named.end() && at->second > since;
}

bool intended_leaks::covers(model::object const& o) const {
    if (programs_.empty()) return false;
    if (covers(o.process, o.handle, o.created.event)) return true;
    if (o.kind == model::object_kind::user_object) return covers(o.process, o.parent, o.created.event);
    auto const* link = model::is_memory(o.kind) ? links_.of_memory(o.id) : nullptr;
    return link != nullptr && (covers(o.process, link->payload, link->created.event) ||
                               covers(o.process, link->handle, link->created.event));
}

}  // namespace lastref::detectors
