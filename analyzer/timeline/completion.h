// What the host is known to have waited for: the last moment up to which each stream's work has completed.
//
// Counted: stream, context and event synchronization, and queries that said "done". Not counted, since they would need
// the order of work between streams: waits of streams for events, implicit joins of the legacy stream.
#pragma once

#include "analyzer/model/observer.h"

#include <unordered_map>

namespace lastref::timeline {

class completion : public model::observer {
  public:
    void on_event(model::process_state const& process, model::event const& e) override;

    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    // True where the host has waited for work that was given to `stream` by a call that ended at `given`.
    bool done(model::stream_identity const& stream, store::time_ns given) const;

  private:
    struct record {
        model::stream_identity stream;
        store::time_ns at = 0;
    };
    void reached(model::stream_identity const& stream, store::time_ns at);
    void reached_by_event(model::event const& e);

    std::unordered_map<model::stream_identity, store::time_ns, model::hash_stream> streams_;
    std::unordered_map<store::context_id, store::time_ns> contexts_;
    std::unordered_map<model::object_id, store::context_id> context_of_stream_;
    std::unordered_map<model::object_id, record> records_;  // latest record of each event
};

}  // namespace lastref::timeline
