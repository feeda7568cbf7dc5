// Which capture a captured call belongs to, for rules that follow what goes into graphs.
#pragma once

#include "analyzer/model/process_state.h"

#include <unordered_map>
#include <vector>

namespace lastref::detectors {

// Collects an `Item` for each captured call, until the capture's graph is known.
template <class Item>
class captured_calls {
  public:
    // To be called for every event. Returns true where a capture ended with `e.subject` as its graph; `items` are then
    // what was captured.
    bool ended(model::event const& e, std::vector<Item>& items) {
        if (e.kind() == event_kind::capture_begin && e.row.succeeded()) open_[e.stream].clear();
        if (e.kind() != event_kind::capture_end) return false;
        auto const found = open_.find(e.stream);
        if (found == open_.end()) return false;
        items = std::move(found->second);
        open_.erase(found);
        return e.row.succeeded() && e.subject != nullptr;
    }

    // The capture that the event's stream takes part in; null where that is not known: a forked stream, while several
    // captures are open.
    std::vector<Item>* of(model::event const& e) {
        if (auto const own = open_.find(e.stream); own != open_.end()) return &own->second;
        return open_.size() == 1 ? &open_.begin()->second : nullptr;
    }

  private:
    std::unordered_map<model::stream_identity, std::vector<Item>, model::hash_stream> open_;
};

}  // namespace lastref::detectors
