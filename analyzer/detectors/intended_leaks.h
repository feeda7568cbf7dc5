// What the program leaves behind on purpose, as it said itself (docs/annotations.md): objects that it named in
// `intended_leak`, and payloads in a deferred queue that it stopped.
#pragma once

#include "analyzer/detectors/payload_links.h"

#include <unordered_map>
#include <unordered_set>

namespace lastref::detectors {

class intended_leaks : public model::observer {
  public:
    explicit intended_leaks(payload_links const& links) : links_(links) {}

    void on_event(model::process_state const& process, model::event const& e) override;

    // The object itself was named during its life, or the payload of the user object that it is or stands for.
    bool covers(model::object const& o) const;
    bool covers(store::process_id process, store::handle value, store::event_id since) const;

  private:
    struct queue {
        std::unordered_set<store::handle> waiting;
        bool stopped = false;
    };
    struct program {
        std::unordered_map<store::handle, store::event_id> named;  // pointers, handles and payloads: when last
        std::unordered_map<store::handle, queue> queues;
    };

    payload_links const& links_;
    std::unordered_map<store::process_id, program> programs_;
};

}  // namespace lastref::detectors
