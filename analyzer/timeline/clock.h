// Vector clocks over streams: up to which event of each stream something is known to come after.
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>
#include <vector>

namespace lastref::timeline {

// What a clock's entry speaks of: one stream, or all of a context's streams that join its legacy stream, or all of a
// context, or all of a process.
enum class scope : std::uint8_t { stream, legacy_group, context, process };

struct scope_key {
    scope kind = scope::stream;
    std::uint32_t number = 0;

    friend auto operator<=>(scope_key const&, scope_key const&) = default;
};

// A moment in the order of the trace.
struct moment {
    store::event_id event;
    store::time_ns at = 0;
};

class clock {
  public:
    // Everything in `key` up to `until`, that event included.
    void add(scope_key key, moment until);
    void join(clock const& other);
    void clear() { entries_.clear(); }

    moment const* find(scope_key key) const;
    bool covers(scope_key key, store::event_id event) const;

    template <class Predicate>
    void erase_if(Predicate gone) {
        std::erase_if(entries_, [&gone](entry const& e) { return gone(e.key, e.until); });
    }
    std::size_t size() const { return entries_.size(); }

  private:
    struct entry {
        scope_key key;
        moment until;
    };
    std::vector<entry> entries_;  // sorted by key
};

}  // namespace lastref::timeline
