// Many producers on one queue, with wake-ups that fail, come late or in the wrong place, and every item accounted for.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kept_queue.h"
#include "lastref/reference/deferred_cleanup_queue.h"

namespace lastref::reference::testing {

struct stress_plan {
    int producers = 32;
    int items_per_producer = 1000;
    int refusals_in_100 = 10;
    int declines_in_100 = 5;
    int stalls_in_100 = 5;
    int pauses_in_100 = 0;  // a producer waits until the queue is empty, so that wake-ups are many and batches small
    bool unscheduled_drains = true;
    bool stops = false;  // in the middle, at a random moment
};

// What was seen; `fault` is empty if every rule held.
struct stress_result {
    std::string fault;
    std::size_t cleaned = 0;
    std::size_t leaked = 0;
    deferred_cleanup_queue::statistics counts{};
};

class queue_stress {
  public:
    explicit queue_stress(stress_plan plan)
        : plan_(plan), wakes_(*this), queue_(kept_queue(wakes_)), last_(plan.producers, -1) {}

    stress_result run() {
        std::thread consumer([this] { consume(); });
        std::thread retrier([this] { retry(); });
        std::vector<std::thread> producers;
        for (int p = 0; p < plan_.producers; ++p) producers.emplace_back([this, p] { produce(p); });
        for (auto& thread : producers) thread.join();
        produced_.store(true);
        retrier.join();
        await_quiescence();
        ends_.store(true);
        ::sem_post(&wakes_.due);
        consumer.join();
        return judge();
    }

  private:
    struct item {
        queue_stress* stress;
        int producer;
        int number;
        std::unique_ptr<int> memory;  // freed twice or read early, the sanitizers see it

        item(queue_stress* s, int p, int n) : stress(s), producer(p), number(n), memory(std::make_unique<int>(n)) {}
        item(item&&) noexcept = default;
        ~item() {
            if (memory) stress->clean(producer, *memory);
        }
    };

    class unreliable_waker final : public waker {
      public:
        explicit unreliable_waker(queue_stress& stress) : stress_(stress) { ::sem_init(&due, 0, 0); }

        bool wake(deferred_cleanup_queue&) noexcept override {
            if (inside_.fetch_add(1) != 0) stress_.fail("two wake-ups asked for at a time");
            bool const accepted = !stress_.chance(stress_.plan_.refusals_in_100) || stress_.reliable_.load();
            last_was_refused.store(!accepted);
            if (accepted && outstanding.fetch_add(1) != 0) stress_.fail("two wake-ups outstanding");
            if (stress_.chance(stress_.plan_.stalls_in_100)) std::this_thread::yield();
            inside_.fetch_sub(1);
            if (accepted) ::sem_post(&due);
            return accepted;
        }

        std::atomic<int> outstanding{0};
        std::atomic<bool> last_was_refused{false};
        ::sem_t due;

      private:
        queue_stress& stress_;
        std::atomic<int> inside_{0};
    };

    void produce(int producer) {
        for (int n = 0; n < plan_.items_per_producer; ++n) {
            queue_.enqueue(make_cleanup_ticket(item(this, producer, n)).release());
            if (chance(plan_.stalls_in_100)) std::this_thread::yield();
            if (chance(plan_.pauses_in_100)) await_empty();
        }
    }

    void await_empty() {
        for (int turn = 0; turn < 100 && !queue_.is_empty(); ++turn) std::this_thread::yield();
    }

    void consume() {
        for (;;) {
            while (::sem_wait(&wakes_.due) != 0) {
            }
            if (ends_.load()) return;
            if (chance(plan_.stalls_in_100)) std::this_thread::yield();
            deliver();
        }
    }

    void deliver() {
        std::scoped_lock const turn(consumer_turn_);
        wakes_.outstanding.fetch_sub(1);
        if (reliable_.load() || !chance(plan_.declines_in_100)) {
            queue_.drain();
            return;
        }
        wakes_.last_was_refused.store(true);
        queue_.decline();
    }

    // Another thread that also wants the queue emptied, and the one that stops it.
    void retry() {
        auto const stop_after = plan_.stops ? random() % 400 : ~0u;
        for (unsigned turn = 0; !produced_.load(); ++turn) {
            queue_.retry();
            if (plan_.unscheduled_drains) queue_.drain_unscheduled();
            if (turn == stop_after) queue_.stop();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        if (plan_.stops) queue_.stop();
    }

    // The producers have ended. As long as items are left, someone must come for them, or the last wake-up was refused;
    // then one retry, which is not refused any more, must bring every item out.
    void await_quiescence() {
        reliable_.store(true);
        while (!is_quiet()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }

    bool is_quiet() {
        std::scoped_lock const consumer_rests(consumer_turn_);
        if (wakes_.outstanding.load() != 0) return false;
        if (queue_.is_stopped() || queue_.is_empty()) return true;
        if (!wakes_.last_was_refused.load()) return fail("items left, and nobody comes for them"), true;
        if (!queue_.retry()) return fail("a retry did not ask"), true;
        return false;
    }

    void clean(int producer, int number) {
        if (inside_cleanup_.exchange(true)) fail("two clean-ups at a time");
        if (number != last_[producer] + 1)
            fail("producer " + std::to_string(producer) + ": item " + std::to_string(number) + " after " +
                 std::to_string(last_[producer]));
        last_[producer] = number;
        if (chance(plan_.stalls_in_100)) std::this_thread::yield();
        inside_cleanup_.store(false);
        cleaned_.fetch_add(1);
    }

    stress_result judge() {
        stress_result result{fault(), cleaned_.load(), queue_.leaked(), queue_.counts()};
        if (result.fault.empty() && result.cleaned + result.leaked != total())
            result.fault = std::to_string(result.cleaned) + " cleaned and " + std::to_string(result.leaked) +
                           " leaked of " + std::to_string(total());
        if (result.fault.empty() && !plan_.stops && result.leaked) result.fault = "leaked without a stop";
        return result;
    }

    std::size_t total() const { return static_cast<std::size_t>(plan_.producers) * plan_.items_per_producer; }

    static std::uint32_t random() {
        static std::atomic<unsigned> seeds{1};
        thread_local std::minstd_rand generator(seeds.fetch_add(1) * 7919);
        return static_cast<std::uint32_t>(generator());
    }
    bool chance(int in_100) { return in_100 && static_cast<int>(random() % 100) < in_100; }

    void fail(std::string what) {
        if (!failed_.exchange(true)) *fault_ = std::move(what);
    }
    std::string fault() { return failed_.load() ? *fault_ : std::string(); }

    stress_plan plan_;
    unreliable_waker wakes_;
    deferred_cleanup_queue& queue_;
    std::mutex consumer_turn_;
    std::vector<int> last_;  // not atomic on purpose: the thread sanitizer proves that clean-ups are ordered
    std::atomic<bool> inside_cleanup_{false};
    std::atomic<std::size_t> cleaned_{0};
    std::atomic<bool> produced_{false}, ends_{false}, reliable_{false}, failed_{false};
    std::unique_ptr<std::string> fault_ = std::make_unique<std::string>();
};

}  // namespace lastref::reference::testing
