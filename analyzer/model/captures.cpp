#include "analyzer/model/captures.h"

namespace lastref::model {

void captures::begin(stream_identity const& stream, store::handle into_graph) {
    open_[next_] = {into_graph};
    streams_[stream] = next_++;
}

store::handle captures::end(stream_identity const& stream) {
    auto const found = streams_.find(stream);
    if (found == streams_.end()) return 0;
    auto const ended = found->second;
    auto const into = open_[ended].into_graph;
    open_.erase(ended);
    std::erase_if(streams_, [ended](auto const& entry) { return entry.second == ended; });
    std::erase_if(events_, [ended](auto const& entry) { return entry.second == ended; });
    return into;
}

void captures::recorded(object_id event, stream_identity const& stream) {
    if (auto const found = streams_.find(stream); found != streams_.end())
        events_[event] = found->second;
    else if (!events_.empty())
        events_.erase(event);
}

void captures::waited(object_id event, stream_identity const& stream) {
    if (events_.empty()) return;
    if (auto const found = events_.find(event); found != events_.end()) streams_.try_emplace(stream, found->second);
}

}  // namespace lastref::model
