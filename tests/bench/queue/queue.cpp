// What handing one item over costs a callback: queue [items] [rounds]
//
// Contenders take turns within each round, so that a change of the machine's mood meets all of them; a figure is the
// median over the rounds. The mean is CPU time of the producers' threads for one item, which other load on the machine
// disturbs less than wall time; the percentiles are wall time of single calls and include the clock (its own cost is
// printed). One consumer empties the queue every 100 µs in all cases. Items are made before: allocating them is no part
// of the callback.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/manual_waker.h"

#ifdef LASTREF_HAVE_CONCURRENTQUEUE
#include <concurrentqueue.h>
#endif
#ifdef LASTREF_HAVE_PYTHON
#include <Python.h>
#endif

namespace {

using namespace lastref::reference;
using steady = std::chrono::steady_clock;

std::atomic<std::size_t> cleaned{0};

struct node final : cleanup_item {
    node() : cleanup_item([](cleanup_item*) noexcept { cleaned.fetch_add(1, std::memory_order_relaxed); }) {}
    node* next = nullptr;  // for the others
};

// --- the contenders: push on the producers' threads, drain on the consumer's
// ----------------------------------------------

class reference_queue {
  public:
    void push(node* item) { queue_.enqueue(item); }
    void drain() { waker_.poll(queue_); }

  private:
    manual_waker waker_;
    deferred_cleanup_queue queue_{waker_};
};

// The yardstick: nothing but the push. Nobody is woken.
class bare_swap {
  public:
    void push(node* item) {
        item->next = head_.load(std::memory_order_relaxed);
        while (!head_.compare_exchange_weak(item->next, item, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }
    void drain() {
        for (auto* item = head_.exchange(nullptr, std::memory_order_acquire); item;)
            std::exchange(item, item->next)->clean_up();
    }

  private:
    alignas(64) std::atomic<node*> head_{nullptr};
};

// In folly's manner: who pushes on an empty list wakes, and the list is taken by an exchange and turned round.
class exchange_list {
  public:
    void push(node* item) {
        auto* head = head_.load(std::memory_order_relaxed);
        do {
            item->next = head;
        } while (!head_.compare_exchange_weak(head, item, std::memory_order_release, std::memory_order_relaxed));
        if (!head) due_.store(true, std::memory_order_relaxed);
    }
    void drain() {
        if (!due_.exchange(false, std::memory_order_relaxed)) return;
        node* oldest = nullptr;
        for (auto* item = head_.exchange(nullptr, std::memory_order_acquire); item;) {
            auto* const following = std::exchange(item->next, oldest);
            oldest = std::exchange(item, following);
        }
        while (oldest) std::exchange(oldest, oldest->next)->clean_up();
    }

  private:
    alignas(64) std::atomic<node*> head_{nullptr};
    alignas(64) std::atomic<bool> due_{false};
};

class locked_deque {
  public:
    void push(node* item) {
        std::scoped_lock const lock(mutex_);
        items_.push_back(item);
    }
    void drain() {
        std::deque<node*> taken;
        {
            std::scoped_lock const lock(mutex_);
            taken.swap(items_);
        }
        for (auto* item : taken) item->clean_up();
    }

  private:
    std::mutex mutex_;
    std::deque<node*> items_;
};

#ifdef LASTREF_HAVE_CONCURRENTQUEUE
class moodycamel_queue {
  public:
    void push(node* item) { queue_.enqueue(item); }
    void drain() {
        node* item;
        while (queue_.try_dequeue(item)) item->clean_up();
    }

  private:
    moodycamel::ConcurrentQueue<node*> queue_;
};

// The same with what it lacks: one coalesced wake-up, which takes an atomic exchange after every enqueue.
class moodycamel_queue_with_wake_up {
  public:
    void push(node* item) {
        queue_.push(item);
        if (!scheduled_.exchange(true, std::memory_order_acq_rel)) due_.store(true, std::memory_order_relaxed);
    }
    void drain() {
        if (!due_.exchange(false, std::memory_order_relaxed)) return;
        scheduled_.exchange(false, std::memory_order_acq_rel);
        queue_.drain();
    }

  private:
    moodycamel_queue queue_;
    alignas(64) std::atomic<bool> scheduled_{false};
    alignas(64) std::atomic<bool> due_{false};
};
#endif

#ifdef LASTREF_HAVE_PYTHON
// One pending call for each item; a refused one is tried again until it is taken, since giving up would lose the item.
class pending_calls {
  public:
    static constexpr std::size_t share = 50;  // of the items: it is that much slower

    void push(node* item) {
        while (Py_AddPendingCall(&run, item) != 0) {
            refused.fetch_add(1, std::memory_order_relaxed);
            std::this_thread::yield();
        }
    }
    void drain() { Py_MakePendingCalls(); }
    static inline std::atomic<std::size_t> refused{0};

  private:
    static int run(void* item) {
        static_cast<node*>(item)->clean_up();
        return 0;
    }
};
#endif

// --- measuring
// --------------------------------------------------------------------------------------------------------------

double thread_cpu_ns() {
    timespec now;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct figures {
    double mean_ns = 0;
    double p50_ns = 0, p999_ns = 0;
};

double percentile(std::vector<float>& sorted, double share) {
    auto const at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
    return sorted[at];
}

// `body(producer, item)` for every item of every producer; the consumer runs on the calling thread (Python's main
// thread).
template <typename Queue, typename Body>
void run(int producers, std::size_t items, Queue& queue, std::vector<std::vector<node>>& nodes, Body body) {
    std::barrier start(producers);
    std::atomic<int> left{producers};
    cleaned = 0;
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p)
        threads.emplace_back([&, p] {
            start.arrive_and_wait();
            body(p, nodes[static_cast<std::size_t>(p)].data(), items);
            left.fetch_sub(1);
        });
    while (left.load() > 0) {
        queue.drain();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    for (auto& thread : threads) thread.join();
    for (auto const total = items * static_cast<std::size_t>(producers); cleaned.load() < total;) queue.drain();
}

template <typename Queue>
figures measure(int producers, std::size_t items) {
    auto nodes = std::vector<std::vector<node>>();
    for (int p = 0; p < producers; ++p) nodes.emplace_back(items);
    std::vector<double> cpu(static_cast<std::size_t>(producers));
    {
        auto const queue = std::make_unique<Queue>();
        run(producers, items, *queue, nodes, [&](int p, node* own, std::size_t count) {
            auto const begin = thread_cpu_ns();
            for (std::size_t i = 0; i < count; ++i) queue->push(&own[i]);
            cpu[static_cast<std::size_t>(p)] = thread_cpu_ns() - begin;
        });
    }
    std::vector<std::vector<float>> times(static_cast<std::size_t>(producers), std::vector<float>(items));
    auto const queue = std::make_unique<Queue>();
    run(producers, items, *queue, nodes, [&](int p, node* own, std::size_t count) {
        auto* const out = times[static_cast<std::size_t>(p)].data();
        for (std::size_t i = 0; i < count; ++i) {
            auto const begin = steady::now();
            queue->push(&own[i]);
            out[i] = std::chrono::duration<float, std::nano>(steady::now() - begin).count();
        }
    });
    std::vector<float> all;
    for (auto const& own : times) all.insert(all.end(), own.begin(), own.end());
    std::sort(all.begin(), all.end());
    double sum = 0;
    for (auto const own : cpu) sum += own;
    return {sum / static_cast<double>(items) / producers, percentile(all, 0.5), percentile(all, 0.999)};
}

double median_of(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct contender {
    char const* name;
    std::function<figures(int, std::size_t)> measure;
    std::vector<figures> rounds;

    double median(double figures::*member) const {
        std::vector<double> values;
        for (auto const& round : rounds) values.push_back(round.*member);
        return median_of(values);
    }

    // The median of the rounds' own ratios: neighbours in time share the machine's clock and its other load.
    double mean_beside(contender const& other) const {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < rounds.size(); ++i) ratios.push_back(rounds[i].mean_ns / other.rounds[i].mean_ns);
        return median_of(ratios);
    }
};

std::vector<contender> contenders() {
    std::vector<contender> all;
    all.push_back({"bare compare-and-swap push", &measure<bare_swap>, {}});
    all.push_back({"deferred_cleanup_queue", &measure<reference_queue>, {}});
    all.push_back({"exchange list (folly's manner)", &measure<exchange_list>, {}});
    all.push_back({"mutex and deque", &measure<locked_deque>, {}});
#ifdef LASTREF_HAVE_CONCURRENTQUEUE
    all.push_back({"moodycamel::ConcurrentQueue", &measure<moodycamel_queue>, {}});
    all.push_back({"  the same, with a wake-up", &measure<moodycamel_queue_with_wake_up>, {}});
#endif
#ifdef LASTREF_HAVE_PYTHON
    all.push_back({"Py_AddPendingCall per item",
                   [](int producers, std::size_t items) {
                       return measure<pending_calls>(producers,
                                                     std::max<std::size_t>(items / pending_calls::share, 100));
                   },
                   {}});
#endif
    return all;
}

double clock_ns() {
    constexpr int turns = 100'000;
    auto const begin = steady::now();
    for (int i = 0; i < turns; ++i) static_cast<void>(steady::now());
    return std::chrono::duration<double, std::nano>(steady::now() - begin).count() / turns;
}

void compare(int producers, std::size_t items, int rounds) {
    auto all = contenders();
    for (int round = 0; round < rounds; ++round)
        for (auto& one : all) one.rounds.push_back(one.measure(producers, items));
    std::printf("%d producer%s\n", producers, producers == 1 ? "" : "s");
    for (auto const& one : all)
        std::printf("  %-32s %9.1f ns  %6.2f x bare   p50 %8.0f ns  p99.9 %10.0f ns\n", one.name,
                    one.median(&figures::mean_ns), one.mean_beside(all.front()), one.median(&figures::p50_ns),
                    one.median(&figures::p999_ns));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    auto const items = argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 100'000;
    int const rounds = argc > 2 ? std::atoi(argv[2]) : 11;
#ifdef LASTREF_HAVE_PYTHON
    Py_InitializeEx(0);
#endif
    std::printf("%zu items, divided among the producers; median of %d rounds; the clock alone %.0f ns; %u processors\n",
                items, rounds, clock_ns(), std::thread::hardware_concurrency());
    for (int const producers : {1, 2, 4, 8, 16, 32})
        compare(producers, std::max<std::size_t>(items / static_cast<std::size_t>(producers), 100), rounds);
#ifdef LASTREF_HAVE_PYTHON
    std::printf("pending calls refused: %zu\n", pending_calls::refused.load());
#endif
}
