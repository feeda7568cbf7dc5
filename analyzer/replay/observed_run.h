// The program's own clean-ups of one process, as far as driver calls show them.
#pragma once

#include "analyzer/detectors/waiting_payloads.h"
#include "analyzer/replay/replay.h"
#include "analyzer/replay/samples.h"

#include <unordered_map>

namespace lastref::replay {

// A drain is what one thread cleans up in one go: it ends when the thread makes a call that no clean-up needs, and
// before a payload whose destructor ran only after the drain's first clean-up, since a queue hands over what is there
// when the drain begins. A pending call of CPython's is one drain, whatever is called and comes in it.
class observed_run {
  public:
    void callback(detectors::payload_links const& links, model::event const& e);
    // `inside`: it takes place in a pending call.
    void call(model::event const& e, bool inside);
    void released(model::object const& gone, model::event const& e, model::release_cause cause, bool inside);
    void drain_begins(model::event const& e);  // a pending call begins
    observed_side finish();

  private:
    struct drain {
        store::time_ns begun = 0;
        std::int64_t size = 0;
        bool in_pending_call = false;
    };
    void clean_up(detectors::waiting_payload const& payload, model::event const& e, bool inside);
    void close(drain& d);

    detectors::waiting_payloads waiting_;
    std::unordered_map<store::thread_id, drain> drains_;
    observed_side side_;
    samples sizes_;
    samples delays_;
};

}  // namespace lastref::replay
