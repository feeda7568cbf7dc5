// Keeps the book of user-object references from the events, predicts when each destructor is due, and checks the
// prediction against the destructors that ran.
#pragma once

#include "analyzer/ledger/book.h"
#include "analyzer/model/observer.h"
#include "analyzer/timeline/order.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace lastref::ledger {

struct accuracy {
    std::uint64_t predicted = 0;   // destructors that were due by the book
    std::uint64_t agreed = 0;      // of these, the ones that ran
    std::uint64_t unexpected = 0;  // destructors that ran while the book still counted references
    store::event_id first_unexpected;
};

// An executable graph that was destroyed or updated while a launch of it was running: the driver keeps what it held
// until the launch is over.
struct pending_release {
    object_id id;         // as owner in the book
    model::object exec;   // what it was
    model::origin ended;  // the call that destroyed or updated it
    timeline::point launch;
};

class accountant : public model::observer {
  public:
    // `order` must be told of each event before the accountant.
    explicit accountant(timeline::order const& order) : order_(order) {}

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_owner_copied(model::process_state const& process, model::object const& from, model::object const& to,
                         model::event const& e) override;
    void on_owner_gone(model::process_state const& process, model::object const& owner, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

    book const& references() const { return book_; }
    ledger::accuracy const& accuracy() const { return accuracy_; }
    pending_release const* pending(object_id owner) const;

  private:
    static constexpr std::size_t most_pending = 1 << 16;

    void on_user_object(model::event const& e);
    void on_destructor(model::event const& e);
    std::int64_t held(account const& of) const;
    void check_early(model::event const& e);
    void settle();
    timeline::point const* running(object_id exec) const;

    timeline::order const& order_;
    book book_;
    ledger::accuracy accuracy_;
    std::unordered_map<object_id, std::vector<timeline::point>>
        launches_;  // latest launch of each executable graph, by stream
    // Destructors that ran while references were counted. A call that gives up references and is recorded at its end
    // (an update of an executable graph) may still explain them: they ran inside it.
    struct early_destructor {
        object_id object;
        store::process_id process;
        store::event_id event;
        store::time_ns at = 0;
    };
    std::vector<early_destructor> early_;
    std::deque<pending_release> pending_;
    std::uint64_t next_pending_ = 0;
};

}  // namespace lastref::ledger
