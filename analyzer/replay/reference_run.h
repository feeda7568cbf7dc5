// The reference's own queue, fed with recorded instants in simulated time: the manual waker is polled at the consumer's
// safe points, and clean-ups take no time.
#pragma once

#include "analyzer/replay/replay.h"
#include "analyzer/replay/samples.h"

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/manual_waker.h"

#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace lastref::replay {

// Threads    One: the producers' order is that of the calls below.
// Times      Callbacks come in the order of their begin. Safe points may be told ahead, in any order.
class reference_run final : reference::queue_observer {
  public:
    // `exit`: when exit handlers began; the queue is then drained once more and stopped. None: it never is.
    explicit reference_run(std::optional<store::time_ns> exit) : exit_(exit) {}
    reference_run(reference_run const&) = delete;
    reference_run& operator=(reference_run const&) = delete;

    void safe_point(store::time_ns at) { due_.push(at); }
    void callback(store::time_ns at);

    // No callback that began earlier is to come: what was due by then takes place.
    void advance(store::time_ns now);

    // All that was told takes place.
    reference_side finish();

  private:
    struct item final : reference::cleanup_item {
        explicit item(reference_run& owner) noexcept : cleanup_item(&item::done), run(&owner) {}
        static void done(cleanup_item* self) noexcept;
        reference_run* run;
        store::time_ns handed_over = 0;
    };

    void poll(store::time_ns at);
    void shut_down();
    item& fresh();

    void enqueued(reference::deferred_cleanup_queue const&, reference::cleanup_item const*) noexcept override;
    void schedule_begin(reference::deferred_cleanup_queue const&) noexcept override {}
    void schedule_end(reference::deferred_cleanup_queue const&, bool) noexcept override {}
    void drain_begin(reference::deferred_cleanup_queue const&) noexcept override {}
    void cleaning(reference::deferred_cleanup_queue const&, reference::cleanup_item const*) noexcept override;
    void drain_end(reference::deferred_cleanup_queue const&, std::size_t cleaned) noexcept override;
    void declined(reference::deferred_cleanup_queue const&) noexcept override {}
    void stopped(reference::deferred_cleanup_queue const&) noexcept override {}

    reference::manual_waker waker_;
    reference::deferred_cleanup_queue queue_{waker_, this};
    std::deque<item> items_;    // as many as ever waited at one time
    std::vector<item*> spare_;  // of these, those that wait no more
    std::priority_queue<store::time_ns, std::vector<store::time_ns>, std::greater<>> due_;
    std::optional<store::time_ns> exit_;
    store::time_ns now_ = 0;
    std::uint64_t safe_points_ = 0;
    std::uint64_t waiting_ = 0;
    std::uint64_t most_waiting_ = 0;
    samples sizes_;
    samples delays_;
};

}  // namespace lastref::replay
