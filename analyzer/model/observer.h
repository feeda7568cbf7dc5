// What the model tells to whoever listens: ledger, timeline and detectors are observers of one pass over the events.
#pragma once

#include "analyzer/model/object.h"

namespace lastref::model {

class process_state;

// One event with everything resolved that the model knows. Valid during the call only.
struct event {
    store::event const& row;
    store::api const& api;
    store::process_id process;
    stream_identity stream;
    object const* subject = nullptr;  // what `row.object` named: just made, or alive before a release
    object const* related = nullptr;  // what `row.other` named, for kinds where that is an object

    event_kind kind() const { return api.kind; }
    origin where() const;
};

enum class release_cause : std::uint8_t {
    call,               // its own free or destroy, successful or not known to have failed
    context_destroyed,  // released by the driver with its context
    displaced,          // its handle was handed out again: how it went was not recorded
};

// The order for one event: objects made are in the model before on_event; objects released still are during on_event
// and on_released and are gone after. References of graphs: on_owner_copied when a graph, child graph or executable
// graph gets a copy of another's references, on_owner_gone when it drops its own.
class observer {
  public:
    virtual ~observer() = default;

    virtual void on_event(process_state const&, event const&) {}
    virtual void on_released(process_state const&, object const&, event const&, release_cause) {}
    virtual void on_owner_copied(process_state const&, object const& /*from*/, object const& /*to*/, event const&) {}
    virtual void on_owner_gone(process_state const&, object const&, event const&) {}
    // After the last event; once for each process that made any.
    virtual void on_process_end(process_state const&) {}
};

}  // namespace lastref::model
