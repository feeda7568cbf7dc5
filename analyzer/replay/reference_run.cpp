#include "analyzer/replay/reference_run.h"

#include <algorithm>
#include <limits>

namespace lastref::replay {

void reference_run::item::done(cleanup_item* self) noexcept {
    auto* const gone = static_cast<item*>(self);
    gone->run->delays_.add(since(gone->handed_over, gone->run->now_));
    gone->run->spare_.push_back(gone);
}

reference_run::item& reference_run::fresh() {
    if (spare_.empty()) return items_.emplace_back(*this);
    auto& out = *spare_.back();
    spare_.pop_back();
    return out;
}

void reference_run::callback(store::time_ns at) {
    advance(at);
    auto& next = fresh();
    next.handed_over = at;
    queue_.enqueue(&next);
}

void reference_run::advance(store::time_ns now) {
    auto const until = exit_ && !queue_.is_stopped() ? std::min(now, *exit_) : now;
    while (!due_.empty() && due_.top() <= until) {
        poll(due_.top());
        due_.pop();
    }
    if (exit_ && *exit_ <= now && !queue_.is_stopped()) {
        now_ = std::max(now_, *exit_);
        shut_down();
    }
}

// After exit handlers have begun nothing is a safe point any more.
void reference_run::poll(store::time_ns at) {
    if (queue_.is_stopped()) return;
    now_ = std::max(now_, at);
    ++safe_points_;
    waker_.poll(queue_);
}

void reference_run::shut_down() {
    queue_.drain_unscheduled();
    queue_.stop();
}

reference_side reference_run::finish() {
    advance(std::numeric_limits<store::time_ns>::max());
    auto const counts = queue_.counts();
    reference_side out;
    out.safe_points = safe_points_;
    out.wakeups = counts.wakeups;
    out.drains = sizes_.summary();
    out.delay = delays_.summary();
    out.most_waiting = most_waiting_;
    out.left = waiting_;
    out.stopped = queue_.is_stopped();
    return out;
}

void reference_run::enqueued(reference::deferred_cleanup_queue const&, reference::cleanup_item const*) noexcept {
    most_waiting_ = std::max(most_waiting_, ++waiting_);
}

void reference_run::cleaning(reference::deferred_cleanup_queue const&, reference::cleanup_item const*) noexcept {
    --waiting_;
}

void reference_run::drain_end(reference::deferred_cleanup_queue const&, std::size_t cleaned) noexcept {
    if (cleaned > 0) sizes_.add(static_cast<std::int64_t>(cleaned));
}

}  // namespace lastref::replay
