// Moves clean-ups out of CUDA's callbacks.
//
// CUDA runs the destructor of a user object inside the call that releases the last reference, on the thread that makes
// it, or after the last launch on a shared internal thread. No CUDA call is allowed there, and nothing may block: the
// thread may hold locks of its own. So the destructor only hands an item over (enqueue); the item's clean-up runs
// later, on a thread where it may call CUDA (drain).
//
//   many producers ──enqueue──▶ state word ──▶ one wake-up ──▶ one consumer ──drain──▶ clean-ups, each exactly once
//
// Guarantees
//   exactly once   Every item enqueued is cleaned up once, or (after stop) never.
//   order          Items of one producer are cleaned up in the order in which it enqueued them.
//   one wake-up    At most one wake-up is outstanding, however many items there are; none while a drain runs.
//   no lost item   A refused wake-up leaves every item in place. While items are there, a wake-up is outstanding, a
//   drain runs,
//                  the queue is stopped, or the last wake-up was refused; in that case the next enqueue or retry() asks
//                  again.
//   late is safe   The queue lives as long as the process (process_lifetime.h): a callback after stop() still finds it.
//
// Ownership   An item belongs to the queue from enqueue() on. waker and observer must outlive the queue.
// Threads     enqueue, retry, stop and the queries: any thread, at any time, concurrently. drain, drain_unscheduled,
// decline:
//             any thread where clean-ups may run; a drain that finds another one running leaves everything to that one.
// Progress    enqueue is lock-free: one compare-and-swap, repeated only when another thread's has succeeded in between.
// It
//             allocates nothing, calls nothing but the waker (and the observer, if there is one), waits for nothing.
// Errors      None are reported by exception. A refused wake-up is counted and retried; what stop() leaves behind is
// counted. fork        A child inherits the state of the instant, a drain that will never end included. CUDA cannot be
// used in such a
//             child either: leave the queue alone there.
//
// The state word
//   All that producers and consumer must agree on is one word, changed by atomic read-modify-writes alone: the newest
//   item's address and three flags in its low bits. "Is somebody coming?" and "is something there?" are therefore never
//   seen apart, and what two separate variables need (store one, fence, check the other) is not needed: the re-check
//   after a drain is part of the very compare-and-swap that ends it.
//
//   idle ──enqueue──▶ scheduled ──drain()──▶ draining ──nothing new──▶ idle
//    ▲                    │                     └──rounds used up──▶ scheduled
//    └──refused, declined─┘                                   stopped: added to any of them, never removed
//
// Memory orders (each pair is named where it stands)
//   [hand-over]     enqueue releases, taking a batch acquires: payload and links of each item are visible to its
//   clean-up. All
//                   changes of the word are read-modify-writes, so a later one, relaxed or not, keeps the release
//                   sequence of each enqueue before it: the consumer synchronizes with every producer whose item it
//                   takes.
//   [between drains] ending a drain releases, beginning one acquires: clean-ups of consecutive drains are ordered, also
//   when they
//                   run on two threads.
//   Everything else is relaxed: it decides on the value of the word alone.
//
// The same algorithm stands, step by step, in tests/models/deferred_cleanup_queue.pml, where every interleaving is
// checked. A step carries the same [name] in both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lastref/reference/cleanup_item.h"
#include "lastref/reference/queue_observer.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

class deferred_cleanup_queue {
  public:
    // A drain takes new batches this often before it asks for another wake-up instead: a producer that never rests must
    // not keep the consumer's thread (an interpreter's main thread, an event loop) for ever.
    static constexpr int rounds_per_drain = 4;

    struct statistics {
        std::size_t wakeups;   // asked for
        std::size_t refusals;  // of those, refused or declined
        std::size_t drains;    // batches taken, empty ones included
        std::size_t cleaned;   // items cleaned up
    };

    explicit deferred_cleanup_queue(waker& wakes, queue_observer* observer = nullptr) noexcept
        : waker_(wakes), observer_(observer) {}
    deferred_cleanup_queue(deferred_cleanup_queue const&) = delete;
    deferred_cleanup_queue& operator=(deferred_cleanup_queue const&) = delete;

    // Hands `item` over. What a destructor callback calls. The item may be gone when this returns.
    void enqueue(cleanup_item* item) noexcept {
        if (observer_) observer_->enqueued(*this, item);
        word seen = state_.load(std::memory_order_relaxed);  // [enqueue.load]
        do {
            item->next_ = items_of(seen);                                                        // [enqueue.link]
        } while (!state_.compare_exchange_weak(seen, word_of(item) | flags_after_enqueue(seen),  // [enqueue.swap]
                                               std::memory_order_release,                        // [hand-over]
                                               std::memory_order_relaxed));
        if (flags_of(seen) == idle) wake();
    }

    // Asks for a wake-up if items are there and none is due, as after a refused one. True if it asked and was not
    // refused. Call it from places that are safe and frequent: where the next payload is attached, where an error has
    // been handled.
    bool retry() noexcept {
        word seen = state_.load(std::memory_order_relaxed);  // [retry.load]
        do {
            if (!items_of(seen) || flags_of(seen) != idle) return false;
        } while (!state_.compare_exchange_weak(seen, seen | scheduled, std::memory_order_relaxed));  // [retry.swap]
        return wake();
    }

    // The wake-up has arrived: cleans up everything that is in the queue and what is added meanwhile. Exactly one call
    // for each accepted wake-up. Returns how many items were cleaned up.
    std::size_t drain() noexcept { return drain_consuming(scheduled); }

    // The same, but not because of a wake-up: one that is outstanding stays so. For safe points and for the last
    // clean-up before stop().
    std::size_t drain_unscheduled() noexcept { return drain_consuming(0); }

    // The wake-up has arrived in a place where nothing may be cleaned up. Every item stays; the next enqueue or retry
    // asks again.
    void decline() noexcept {
        if (observer_) observer_->declined(*this);
        refuse();
    }

    // Shutdown: no wake-up is asked for and no clean-up begins from now on. Does not wait: a clean-up that has begun on
    // another thread goes on. Later enqueues are safe. What is left is leaked on purpose, intact and reachable.
    void stop() noexcept {
        word const before = state_.fetch_or(stopped, std::memory_order_relaxed);  // [stop]
        // Last: a drain that sees this must find the word stopped when it ends.
        stops_drain_.store(true, std::memory_order_relaxed);  // [stop.drain]
        if (observer_ && !(before & stopped)) observer_->stopped(*this);
    }

    bool is_stopped() const noexcept { return state_.load(std::memory_order_relaxed) & stopped; }
    bool is_empty() const noexcept { return !items_of(state_.load(std::memory_order_relaxed)); }
    bool is_scheduled() const noexcept { return state_.load(std::memory_order_relaxed) & scheduled; }

    // How many items a stopped queue holds on to; 0 before stop(). Walks the list: for reports, not for hot paths.
    // Exact once a drain that stop() interrupted on another thread has returned.
    std::size_t leaked() const noexcept {
        word const seen = state_.load(std::memory_order_acquire);  // [hand-over]; nothing is taken from a stopped queue
        if (!(seen & stopped)) return 0;
        std::size_t count = abandoned_count_.load(std::memory_order_relaxed);
        for (auto const* item = items_of(seen); item; item = item->next_) ++count;
        return count;
    }

    statistics counts() const noexcept {
        return {wakeups_.load(std::memory_order_relaxed), refusals_.load(std::memory_order_relaxed),
                drains_.load(std::memory_order_relaxed), cleaned_.load(std::memory_order_relaxed)};
    }

  private:
    using word = std::uintptr_t;
    static constexpr word idle = 0;
    static constexpr word scheduled = 1;  // a wake-up was asked for and has neither arrived nor been refused
    static constexpr word draining = 2;   // a drain runs
    static constexpr word stopped = 4;
    static constexpr word flags = scheduled | draining | stopped;
    static_assert(alignof(cleanup_item) > flags, "flags live in the low bits of an item's address");

    static cleanup_item* items_of(word state) noexcept { return reinterpret_cast<cleanup_item*>(state & ~flags); }
    static word flags_of(word state) noexcept { return state & flags; }
    static word word_of(cleanup_item* item) noexcept { return reinterpret_cast<word>(item); }

    // Who enqueues on an idle queue schedules; who finds any flag set relies on the one that set it.
    static word flags_after_enqueue(word seen) noexcept { return flags_of(seen) | word{flags_of(seen) == idle}; }

    // Asks the waker. The caller has just set `scheduled`, so no one else is here.
    bool wake() noexcept {
        if (observer_) observer_->schedule_begin(*this);
        bool const accepted = waker_.wake(*this);  // [wake]
        count(wakeups_, 1);
        if (observer_) observer_->schedule_end(*this, accepted);
        if (!accepted) refuse();
        return accepted;
    }

    void refuse() noexcept {
        state_.fetch_and(~scheduled, std::memory_order_relaxed);  // [refuse]
        count(refusals_, 1);
    }

    std::size_t drain_consuming(word consumed) noexcept {
        cleanup_item* batch = nullptr;
        if (!begin_drain(consumed, batch)) return 0;
        std::size_t cleaned = clean_up_batch(batch);
        auto then = finish_batch(rounds_per_drain - 1, batch);
        for (int rounds_left = rounds_per_drain - 2; then == after_batch::again; --rounds_left) {
            cleaned += clean_up_batch(batch);
            then = finish_batch(rounds_left, batch);
        }
        if (then == after_batch::hand_on) wake();
        return cleaned;
    }

    // Takes the wake-up off (`consumed`) and, unless another drain runs or the queue is stopped, the whole list.
    bool begin_drain(word consumed, cleanup_item*& batch) noexcept {
        word seen = state_.load(std::memory_order_relaxed);  // [begin.load]
        bool taken;
        word next;
        do {
            taken = !(seen & (draining | stopped));
            next = taken ? (flags_of(seen) & ~consumed) | draining : seen & ~consumed;
        } while (!state_.compare_exchange_weak(seen, next,                 // [begin.swap]
                                               std::memory_order_acquire,  // [hand-over], [between drains]
                                               std::memory_order_relaxed));
        batch = items_of(seen);
        return taken;
    }

    enum class after_batch { end, again, hand_on };

    // One compare-and-swap looks whether items came and ends the drain if none did: there is no moment between the two.
    after_batch finish_batch(int rounds_left, cleanup_item*& batch) noexcept {
        word seen = state_.load(std::memory_order_relaxed);  // [finish.load]
        after_batch then;
        word next;
        do {
            then = what_follows(seen, rounds_left);
            next = then == after_batch::again     ? flags_of(seen)
                   : then == after_batch::hand_on ? (seen & ~draining) | scheduled
                                                  : seen & ~draining;
        } while (!state_.compare_exchange_weak(seen, next,                 // [finish.swap]
                                               std::memory_order_acq_rel,  // [hand-over], [between drains]
                                               std::memory_order_relaxed));
        batch = items_of(seen);
        return then;
    }

    static after_batch what_follows(word seen, int rounds_left) noexcept {
        if (!items_of(seen) || (seen & stopped)) return after_batch::end;
        if (rounds_left > 0) return after_batch::again;
        // The wake-up that is still outstanding comes for these items; otherwise ask for one.
        return seen & scheduled ? after_batch::end : after_batch::hand_on;
    }

    // The list is newest first, as it was pushed.
    static cleanup_item* oldest_first(cleanup_item* newest) noexcept {
        cleanup_item* oldest = nullptr;
        while (newest) {
            cleanup_item* const next = newest->next_;
            newest->next_ = oldest;
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

    // Begin and end are told while the drain is ours, so that an observer never hears of two at a time.
    std::size_t clean_up_batch(cleanup_item* newest) noexcept {
        if (observer_) observer_->drain_begin(*this);
        std::size_t const cleaned = clean_up(oldest_first(newest));
        count(drains_, 1);
        count(cleaned_, cleaned);
        if (observer_) observer_->drain_end(*this, cleaned);
        return cleaned;
    }

    std::size_t clean_up(cleanup_item* item) noexcept {
        std::size_t cleaned = 0;
        while (item && !stops_drain_.load(std::memory_order_relaxed)) {  // [clean.check]
            cleanup_item* const next = item->next_;
            if (observer_) observer_->cleaning(*this, item);
            item->clean_up();  // [clean.run]
            item = next;
            ++cleaned;
        }
        if (item) abandon(item);
        return cleaned;
    }

    // The queue was stopped in the middle of a batch.
    void abandon(cleanup_item* rest) noexcept {
        std::size_t count = 0;
        for (auto const* item = rest; item; item = item->next_) ++count;
        abandoned_ = rest;
        abandoned_count_.store(count, std::memory_order_relaxed);
    }

    static void count(std::atomic<std::size_t>& counter, std::size_t by) noexcept {
        counter.fetch_add(by, std::memory_order_relaxed);
    }

    static constexpr std::size_t cache_line = 64;

    alignas(cache_line) std::atomic<word> state_{idle};
    // Read by every producer and written once at most: not on the line that they all write.
    alignas(cache_line) waker& waker_;
    queue_observer* const observer_;
    // Tells a running drain that the queue was stopped. Not the word itself: looking at it before every item would take
    // its cache line away from the producers each time.
    std::atomic<bool> stops_drain_{false};
    alignas(cache_line) std::atomic<std::size_t> wakeups_{0};
    std::atomic<std::size_t> refusals_{0};
    std::atomic<std::size_t> drains_{0};
    std::atomic<std::size_t> cleaned_{0};
    std::atomic<std::size_t> abandoned_count_{0};
    cleanup_item* abandoned_ = nullptr;  // written by the one drain that stop() interrupted; keeps its items reachable
};

}  // namespace lastref::reference
