// A CUDA user object and the references to it that the caller owns.
//
// Rule        References are counted by owner. A reference given to a graph by MOVE is not the caller's any more; what
// the caller
//             still owns it releases, once.
// Without it  The driver reports success when more is released than exists, and the destructor then never runs; a
// reference that
//             nobody releases keeps the payload for ever. lastref: user-object-leak, user-object-over-release.
#pragma once

#include <stdexcept>
#include <utility>

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/cleanup_item.h"
#include "lastref/reference/driver.h"

namespace lastref::reference {

// Ownership   Owns `owned()` references; the destructor releases them. The payload belongs to CUDA once create has
// succeeded. Threads     One at a time. Errors      create, retain and the transfers throw driver_error and change
// nothing then. Asking for more than is owned throws
//             std::logic_error before the driver is asked. The destructor reports.
class user_object {
  public:
    // `enqueue` hands the item to a queue (enqueue_cleanup<queue>). If the driver refuses, the ticket cleans up at
    // once, on this thread, where that is allowed.
    static user_object create(driver& calls, cleanup_ticket ticket, void (*enqueue)(void*), unsigned references = 1) {
        user_object_handle object = nullptr;
        throw_unless_success(calls, calls.create_user_object(object, ticket.get(), enqueue, references),
                             "creating a user object");
        static_cast<void>(ticket.release());
        return {calls, object, references};
    }

    user_object(user_object&& other) noexcept
        : driver_(other.driver_), object_(other.object_), owned_(std::exchange(other.owned_, 0)) {}
    user_object& operator=(user_object&&) = delete;
    ~user_object() {
        if (owned_) release_all();
    }

    user_object_handle handle() const noexcept { return object_; }
    unsigned owned() const noexcept { return owned_; }

    void retain(unsigned references = 1) {
        throw_unless_success(*driver_, driver_->retain_user_object(object_, references), "retaining a user object");
        owned_ += references;
    }

    void release(unsigned references = 1) {
        must_own(references);
        throw_unless_success(*driver_, driver_->release_user_object(object_, references), "releasing a user object");
        owned_ -= references;
    }

    // The graph gets the caller's references; the total stays.
    void move_to(graph_handle graph, unsigned references = 1) {
        must_own(references);
        throw_unless_success(*driver_, driver_->graph_retain(graph, object_, references, true),
                             "moving a user object to a graph");
        owned_ -= references;
    }

    // The graph gets references of its own; the caller keeps what it has.
    void share_with(graph_handle graph, unsigned references = 1) {
        must_own(1);
        throw_unless_success(*driver_, driver_->graph_retain(graph, object_, references, false),
                             "sharing a user object with a graph");
    }

  private:
    user_object(driver& calls, user_object_handle object, unsigned owned) noexcept
        : driver_(&calls), object_(object), owned_(owned) {}

    void must_own(unsigned references) const {
        if (references > owned_) throw std::logic_error("more references to a user object than the caller owns");
    }

    void release_all() noexcept {
        auto const result = driver_->release_user_object(object_, std::exchange(owned_, 0));
        if (result != status::success)
            report_cleanup_failure({result, driver_->name_of(result), "releasing a user object",
                                    reinterpret_cast<unsigned long long>(object_), nullptr, nullptr});
    }

    driver* driver_;
    user_object_handle object_;
    unsigned owned_;
};

}  // namespace lastref::reference
