// What went through CPython's queue of pending calls, and the stages of the interpreter itself.
#pragma once

#include "analyzer/model/observer.h"
#include "analyzer/store/trace.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace lastref::model {

enum class interpreter_stage : std::uint8_t { none, initialized, finalizing, finalized };

// The pending calls of one function of one process.
struct pending_function {
    store::process_id process;
    store::handle function = 0;
    std::uint64_t attempts = 0;
    std::uint64_t refused = 0;
    std::uint64_t in_callbacks = 0;  // attempts made inside a callback of the driver's
    std::uint64_t runs = 0;          // of accepted attempts, and of those made by a parent before its fork
    std::uint64_t waiting = 0;       // accepted, and not run so far
    std::uint64_t payload_callbacks =
        0;                              // destructors of user objects before its runs; those after the last are `later`
    std::uint64_t later_callbacks = 0;  // destructors since its latest run
    std::set<store::thread_id> callback_threads;  // that ran them
    std::set<store::thread_id> run_threads;
    std::uint64_t frees = 0;  // of memory, inside its runs
    std::uint64_t freed_bytes = 0;
    store::time_ns longest_wait = 0;  // from an attempt's begin to its run
    store::time_ns total_run = 0;     // length of its runs that returned
    std::optional<origin> first_attempt, first_refusal, first_run;
    std::optional<origin> taken_after_refusal;  // the first attempt after a refusal that was accepted
};

class pending_calls : public observer {
  public:
    struct running {
        store::event_id event;
        store::time_ns begin = 0;
        store::time_ns end = 0;  // the greatest there is where it did not return
        store::handle function = 0;
    };

    explicit pending_calls(store::trace const& trace);

    void on_event(process_state const& process, event const& e) override;
    void on_released(process_state const& process, object const& gone, event const& e, release_cause cause) override;

    // The pending call inside which this event of its thread takes place.
    running const* around(store::event const& row) const;

    // As it was when the event took place; any event of the trace, whatever has been told so far.
    interpreter_stage interpreter_at(store::process_id process, store::event_id event) const;

    // In the order in which their first attempts were made; empty for a process without.
    std::vector<pending_function const*> of(store::process_id process) const;
    std::vector<pending_function> all() const;

  private:
    using key = std::pair<store::process_id, store::handle>;
    struct step {
        store::event_id before;  // the greatest event written before it
        interpreter_stage reached = interpreter_stage::none;
    };
    struct queue {
        std::uint64_t callbacks = 0;  // destructors so far
        std::set<store::thread_id> callback_threads;
    };
    struct attempt {
        store::time_ns at = 0;
    };
    struct entry {
        pending_function what;
        std::uint64_t seen = 0;  // of the process's callbacks at its latest run
    };

    entry& of(event const& e);
    void attempted(event const& e);
    void ran(event const& e);

    std::map<store::process_id, std::vector<step>> steps_;  // only of processes with an interpreter
    std::map<store::process_id, queue> queues_;
    std::map<key, entry> functions_;
    std::map<std::pair<store::process_id, std::uint64_t>, attempt> waiting_;  // by number of the attempt
    std::unordered_map<store::thread_id, running> running_;
};

}  // namespace lastref::model
