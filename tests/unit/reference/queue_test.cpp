// The queue on one thread: every rule of deferred_cleanup_queue.h that needs no luck to be seen broken.
#include "lastref/reference/deferred_cleanup_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "kept_queue.h"
#include "lastref/reference/manual_waker.h"
#include "lastref/reference/process_lifetime.h"

namespace lastref::reference {
namespace {

// Accepts or refuses as told; counts.
class scripted_waker final : public waker {
  public:
    bool wake(deferred_cleanup_queue&) noexcept override {
        ++asked;
        if (!accepts) return false;
        ++outstanding;
        return true;
    }

    std::size_t deliver(deferred_cleanup_queue& queue) {
        --outstanding;
        return queue.drain();
    }

    bool accepts = true;
    int asked = 0;
    int outstanding = 0;
};

struct fixture : ::testing::Test {
    struct payload {
        explicit payload(std::function<void()> body) : run(std::move(body)) {}
        payload(payload&&) noexcept = default;
        ~payload() {
            if (run) run();
        }
        std::function<void()> run;
    };

    void enqueue(std::function<void()> run) { queue.enqueue(make_cleanup_ticket(payload(std::move(run))).release()); }
    void enqueue(int number) {
        enqueue([this, number] { cleaned.push_back(number); });
    }

    scripted_waker wakes;
    deferred_cleanup_queue& queue = testing::kept_queue(wakes);
    std::vector<int> cleaned;
};

using deferred_cleanup_queue_test = fixture;

TEST_F(deferred_cleanup_queue_test, asks_once_for_many_items_and_cleans_up_in_order) {
    for (int i = 0; i < 100; ++i) enqueue(i);
    EXPECT_EQ(wakes.asked, 1);
    EXPECT_TRUE(cleaned.empty());
    EXPECT_EQ(wakes.deliver(queue), 100u);
    std::vector<int> expected(100);
    for (int i = 0; i < 100; ++i) expected[i] = i;
    EXPECT_EQ(cleaned, expected);
    EXPECT_TRUE(queue.is_empty());
    EXPECT_FALSE(queue.is_scheduled());
}

TEST_F(deferred_cleanup_queue_test, asks_again_after_a_drain) {
    enqueue(1);
    wakes.deliver(queue);
    enqueue(2);
    EXPECT_EQ(wakes.asked, 2);
    wakes.deliver(queue);
    EXPECT_EQ(cleaned, (std::vector{1, 2}));
}

TEST_F(deferred_cleanup_queue_test, what_a_clean_up_enqueues_is_cleaned_up_by_the_same_drain) {
    enqueue([this] { enqueue(2); });
    EXPECT_EQ(wakes.deliver(queue), 2u);
    EXPECT_EQ(cleaned, (std::vector{2}));
    EXPECT_EQ(wakes.asked, 1);
}

TEST_F(deferred_cleanup_queue_test, a_drain_without_end_hands_on_to_another_wake_up) {
    int left = 20;
    std::function<void()> again = [&] {
        if (--left > 0) enqueue(again);
    };
    enqueue(again);
    EXPECT_EQ(wakes.deliver(queue), static_cast<std::size_t>(deferred_cleanup_queue::rounds_per_drain));
    EXPECT_EQ(wakes.outstanding, 1);
    while (wakes.outstanding > 0) wakes.deliver(queue);
    EXPECT_EQ(left, 0);
    EXPECT_TRUE(queue.is_empty());
}

TEST_F(deferred_cleanup_queue_test, a_refused_wake_up_leaves_every_item_and_the_next_enqueue_asks_again) {
    wakes.accepts = false;
    enqueue(1);
    enqueue(2);
    EXPECT_EQ(wakes.asked, 2);
    EXPECT_FALSE(queue.is_scheduled());
    wakes.accepts = true;
    enqueue(3);
    EXPECT_EQ(wakes.outstanding, 1);
    wakes.deliver(queue);
    EXPECT_EQ(cleaned, (std::vector{1, 2, 3}));
    EXPECT_EQ(queue.counts().refusals, 2u);
    EXPECT_EQ(queue.counts().wakeups, 3u);
}

TEST_F(deferred_cleanup_queue_test, retry_asks_only_where_items_wait_and_nobody_comes) {
    EXPECT_FALSE(queue.retry());
    wakes.accepts = false;
    enqueue(1);
    EXPECT_FALSE(queue.retry());
    wakes.accepts = true;
    EXPECT_TRUE(queue.retry());
    EXPECT_FALSE(queue.retry());
    EXPECT_EQ(wakes.outstanding, 1);
    wakes.deliver(queue);
    EXPECT_EQ(cleaned, (std::vector{1}));
    EXPECT_FALSE(queue.retry());
}

TEST_F(deferred_cleanup_queue_test, a_declined_wake_up_counts_as_refused) {
    enqueue(1);
    queue.decline();
    --wakes.outstanding;
    EXPECT_FALSE(queue.is_scheduled());
    EXPECT_FALSE(queue.is_empty());
    EXPECT_TRUE(queue.retry());
    wakes.deliver(queue);
    EXPECT_EQ(cleaned, (std::vector{1}));
    EXPECT_EQ(queue.counts().refusals, 1u);
}

TEST_F(deferred_cleanup_queue_test, an_unscheduled_drain_keeps_the_outstanding_wake_up) {
    enqueue(1);
    EXPECT_EQ(queue.drain_unscheduled(), 1u);
    EXPECT_TRUE(queue.is_scheduled());
    enqueue(2);
    EXPECT_EQ(wakes.asked, 1) << "the first wake-up is still to come";
    EXPECT_EQ(wakes.deliver(queue), 1u);
    EXPECT_FALSE(queue.is_scheduled());
    EXPECT_EQ(cleaned, (std::vector{1, 2}));
}

TEST_F(deferred_cleanup_queue_test, a_drain_inside_a_clean_up_leaves_all_to_the_outer_one) {
    enqueue([this] {
        enqueue(2);
        EXPECT_EQ(queue.drain_unscheduled(), 0u);
        EXPECT_TRUE(cleaned.empty());
    });
    EXPECT_EQ(wakes.deliver(queue), 2u);
    EXPECT_EQ(cleaned, (std::vector{2}));
}

TEST_F(deferred_cleanup_queue_test, the_wake_up_may_be_delivered_inside_wake) {
    struct : waker {
        bool wake(deferred_cleanup_queue& woken) noexcept override {
            woken.drain();
            return true;
        }
    } at_once;
    deferred_cleanup_queue direct{at_once};
    for (int i = 0; i < 3; ++i) {
        direct.enqueue(make_cleanup_ticket(payload([this, i] { cleaned.push_back(i); })).release());
        EXPECT_EQ(cleaned.size(), static_cast<std::size_t>(i + 1));
    }
    EXPECT_TRUE(direct.is_empty());
}

TEST_F(deferred_cleanup_queue_test, after_stop_nothing_is_asked_and_nothing_runs) {
    enqueue(1);
    queue.stop();
    enqueue(2);
    enqueue(3);
    EXPECT_EQ(wakes.asked, 1);
    EXPECT_EQ(wakes.deliver(queue), 0u);
    EXPECT_FALSE(queue.is_scheduled());
    EXPECT_EQ(queue.drain_unscheduled(), 0u);
    EXPECT_FALSE(queue.retry());
    EXPECT_TRUE(cleaned.empty());
    EXPECT_EQ(queue.leaked(), 3u);
    enqueue(4);
    EXPECT_EQ(queue.leaked(), 4u);
    EXPECT_EQ(wakes.asked, 1);
}

TEST_F(deferred_cleanup_queue_test, stop_in_the_middle_of_a_drain_leaks_the_rest) {
    enqueue(1);
    enqueue([this] { queue.stop(); });
    enqueue(3);
    enqueue(4);
    EXPECT_EQ(queue.leaked(), 0u);
    EXPECT_EQ(wakes.deliver(queue), 2u);
    enqueue(5);
    EXPECT_EQ(cleaned, (std::vector{1}));
    EXPECT_EQ(queue.leaked(), 3u);
}

TEST_F(deferred_cleanup_queue_test, stop_before_anything_is_enqueued) {
    queue.stop();
    queue.stop();
    enqueue(1);
    EXPECT_EQ(wakes.asked, 0);
    EXPECT_EQ(queue.leaked(), 1u);
}

TEST(cleanup_ticket_test, cleans_up_at_once_where_cuda_never_took_the_item) {
    auto const payload = std::make_shared<int>(1);
    { auto const ticket = make_cleanup_ticket(payload); }
    EXPECT_EQ(payload.use_count(), 1);
}

constinit process_lifetime<manual_waker> published_waker;
constinit process_lifetime<deferred_cleanup_queue> published_queue;

TEST(process_lifetime_test, the_callback_finds_the_published_queue) {
    EXPECT_EQ(published_queue.get(), nullptr);
    auto& wakes = published_waker.emplace();
    auto& queue = published_queue.emplace(wakes);
    auto const payload = std::make_shared<int>(1);
    void (*callback)(void*) = &enqueue_cleanup<published_queue>;
    callback(make_cleanup_ticket(payload).release());
    EXPECT_EQ(payload.use_count(), 2);
    EXPECT_EQ(wakes.poll(queue), 1u);
    EXPECT_EQ(payload.use_count(), 1);
    EXPECT_EQ(wakes.poll(queue), 0u);
}

// What is heard, in order.
class writing_observer final : public queue_observer {
  public:
    void enqueued(deferred_cleanup_queue const&, cleanup_item const*) noexcept override { heard += "enqueue "; }
    void schedule_begin(deferred_cleanup_queue const&) noexcept override { heard += "schedule "; }
    void schedule_end(deferred_cleanup_queue const&, bool accepted) noexcept override {
        heard += accepted ? "accepted " : "refused ";
    }
    void drain_begin(deferred_cleanup_queue const&) noexcept override { heard += "drain("; }
    void cleaning(deferred_cleanup_queue const&, cleanup_item const*) noexcept override { heard += "clean "; }
    void drain_end(deferred_cleanup_queue const&, std::size_t cleaned) noexcept override {
        heard += std::to_string(cleaned) + ") ";
    }
    void declined(deferred_cleanup_queue const&) noexcept override { heard += "declined "; }
    void stopped(deferred_cleanup_queue const&) noexcept override { heard += "stop "; }
    std::string heard;
};

TEST(queue_observer_test, hears_everything_in_order) {
    scripted_waker wakes;
    writing_observer observer;
    deferred_cleanup_queue queue{wakes, &observer};
    auto const enqueue = [&] { queue.enqueue(make_cleanup_ticket(1).release()); };
    wakes.accepts = false;
    enqueue();
    wakes.accepts = true;
    enqueue();
    queue.decline();
    queue.retry();
    queue.drain();
    queue.stop();
    queue.stop();
    EXPECT_EQ(
        observer.heard,
        "enqueue schedule refused enqueue schedule accepted declined schedule accepted drain(clean clean 2) stop ");
}

}  // namespace
}  // namespace lastref::reference
