#include "analyzer/timeline/clock.h"

#include <algorithm>

namespace lastref::timeline {

void clock::add(scope_key key, moment until) {
    auto const at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                     [](entry const& e, scope_key wanted) { return e.key < wanted; });
    if (at == entries_.end() || at->key != key)
        entries_.insert(at, {key, until});
    else if (at->until.event < until.event)
        at->until = until;
}

void clock::join(clock const& other) {
    if (&other == this) return;
    if (entries_.empty()) {
        entries_ = other.entries_;
        return;
    }
    for (auto const& each : other.entries_) add(each.key, each.until);
}

moment const* clock::find(scope_key key) const {
    auto const at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                     [](entry const& e, scope_key wanted) { return e.key < wanted; });
    return at != entries_.end() && at->key == key ? &at->until : nullptr;
}

bool clock::covers(scope_key key, store::event_id event) const {
    auto const* until = find(key);
    return until != nullptr && event <= until->event;
}

}  // namespace lastref::timeline
