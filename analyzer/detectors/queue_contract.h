// queue-contract: what a deferred clean-up queue says of itself (docs/annotations.md), against what the order of its
// marks means: nothing is lost, repeated, cleaned up on a wrong thread, woken for twice or asked for after its stop.
#pragma once

#include "analyzer/detectors/groups.h"

#include <deque>
#include <unordered_map>

namespace lastref::detectors {

class queue_contract : public detector {
  public:
    explicit queue_contract(case_file const& file);

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    enum class breach : std::uint8_t {
        lost,             // a batch that began after the item was enqueued ended without it
        left,             // never cleaned up, and no batch came for it
        cleaned_twice,    // or never enqueued
        enqueued_twice,   // again before it was cleaned up
        scheduled_twice,  // while a wake-up was under way
        in_callback,
        other_thread,  // cleaned up outside the batch's thread
        overlapping,   // two batches at one time
        after_stop,
        after_interpreter,  // a pending call asked for when the interpreter finalizes or is gone
    };
    struct offence {
        breach what = breach::lost;
        store::handle queue = 0;
        store::handle item = 0;
        model::origin at;
        model::origin before;  // what it is in conflict with; none where there is nothing
    };
    struct queue {
        std::unordered_map<store::handle, model::origin> waiting;
        std::deque<std::pair<store::handle, model::origin>> cleaned;  // the latest
        std::unordered_map<store::thread_id, store::event_id> last_enqueue;
        model::origin open;                // a schedule that has no result yet
        bool answered = false;             // it has been answered already
        model::origin pending;             // a wake-up that was accepted and not answered
        model::origin batch;               // a drain that has not ended
        store::event_id last_whole_batch;  // begin of the latest batch that ended
        model::origin stop;
    };
    static constexpr std::size_t most_cleaned = 256;

    void enqueue(queue& q, model::event const& e);
    void clean(queue& q, model::event const& e);
    void schedule(queue& q, model::event const& e);
    void schedule_result(queue& q, model::event const& e);
    void answer(queue& q);
    void drain_begin(queue& q, model::event const& e);
    void drain_end(queue& q, model::event const& e);
    void pending_call(model::event const& e);
    void add(breach what, model::event const& e, model::origin const& before = {});
    void add(store::process_id process, offence const& o);
    void look_at_what_is_left(model::process_state const& process, store::handle name, queue const& q);
    void report(model::process_state const& process, std::uint64_t key, groups<offence>::group const& g);
    void describe(finding& out, offence const& o) const;
    bool marks_missing(store::process_id process) const;

    std::unordered_map<store::process_id, std::map<store::handle, queue>> queues_;
    groups<offence> groups_;
};

}  // namespace lastref::detectors
