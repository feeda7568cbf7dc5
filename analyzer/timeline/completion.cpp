#include "analyzer/timeline/completion.h"

#include <algorithm>

namespace lastref::timeline {

void completion::reached(model::stream_identity const& stream, store::time_ns at) {
    auto& until = streams_[stream];
    until = std::max(until, at);
}

void completion::reached_by_event(model::event const& e) {
    if (e.subject == nullptr) return;
    if (auto const found = records_.find(e.subject->id); found != records_.end())
        reached(found->second.stream, found->second.at);
}

void completion::on_event(model::process_state const&, model::event const& e) {
    using k = event_kind;
    if (!e.row.succeeded()) return;
    switch (e.kind()) {
        case k::stream_create:
            if (e.subject) context_of_stream_[e.subject->id] = e.row.context;
            break;
        case k::event_record:
            if (e.subject) records_[e.subject->id] = {e.stream, e.row.begin};
            break;
        case k::stream_synchronize:
        case k::stream_query:
            reached(e.stream, e.row.begin);
            break;
        case k::event_synchronize:
        case k::event_query:
            reached_by_event(e);
            break;
        case k::context_synchronize: {
            auto& until = contexts_[e.row.context];
            until = std::max(until, e.row.begin);
            break;
        }
        default:
            break;
    }
}

void completion::on_released(model::process_state const&, model::object const& gone, model::event const&,
                             model::release_cause) {
    if (gone.kind == model::object_kind::event) records_.erase(gone.id);
    if (gone.kind != model::object_kind::stream) return;
    streams_.erase({model::stream_kind::created, model::stream_token::created, {}, {}, gone.id});
    context_of_stream_.erase(gone.id);
}

bool completion::done(model::stream_identity const& stream, store::time_ns given) const {
    if (auto const found = streams_.find(stream); found != streams_.end() && given <= found->second) return true;
    auto context = stream.context;
    if (auto const found = context_of_stream_.find(stream.stream); found != context_of_stream_.end())
        context = found->second;
    auto const synchronized = contexts_.find(context);
    return synchronized != contexts_.end() && given <= synchronized->second;
}

}  // namespace lastref::timeline
