// Which memory a user object's payload may stand for. The driver never says; two things hint at it: a payload that is
// the memory's own address, and memory allocated just before the user object by the same thread, in or just under the
// same function.
#pragma once

#include "analyzer/findings/fingerprint.h"
#include "analyzer/model/observer.h"

#include <map>
#include <optional>
#include <unordered_map>

namespace lastref::detectors {

struct payload_link {
    model::object_id user_object;
    model::object memory;
    model::origin created;                    // of the user object
    bool by_address = false;                  // the payload is the memory's address: no guess
    std::optional<model::origin> destructor;  // once it ran
    store::handle handle = 0;                 // of the user object
    store::handle payload = 0;
};

class payload_links : public model::observer {
  public:
    explicit payload_links(store::trace const& trace) : trace_(trace) {}

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    // Only for memory that is still live. Links by nearness are checked against the stacks here.
    payload_link const* of_memory(model::object_id memory) const;
    payload_link const* of_user_object(model::object_id user_object) const;

  private:
    struct last_allocation {
        model::object_id memory;
        std::uint64_t calls_since = 0;
    };
    // More calls in between, or more frames to the common caller, and the two have little to do with each other.
    static constexpr std::uint64_t most_calls_between = 12;
    static constexpr std::size_t most_frames_apart = 5;

    void link(model::process_state const& process, model::event const& e);
    bool close_by(payload_link const& l) const;
    bool near(payload_link const& l) const;

    store::trace const& trace_;
    mutable std::map<std::pair<store::stack_id, store::stack_id>, bool> near_;  // by the two stacks, looked up once
    std::unordered_map<store::thread_id, last_allocation> last_;
    std::unordered_map<model::object_id, payload_link> by_memory_;
    std::unordered_map<model::object_id, model::object_id> memory_of_;  // by user object
};

}  // namespace lastref::detectors
