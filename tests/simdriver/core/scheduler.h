// Runs the work of streams: a graph of operations, each of which starts when all that it depends on have completed.
//
// Device operations run on a few worker threads; host functions and stream callbacks run one after the other on one
// internal thread of their own, as in the real driver, where a slow callback holds up all others; so do destructors on
// another. All state is guarded by the driver's lock; bodies run without it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"

namespace lastref::simdriver {

using steady = std::chrono::steady_clock;

enum class lane { device, callback, destructor };

struct operation;
using operation_ptr = std::shared_ptr<operation>;

struct operation {
    std::function<void()> body;       // runs without the lock; may be empty
    std::function<bool()> ready;      // polled without the lock until true; may be empty
    std::function<void()> completed;  // runs with the lock when the operation is done; may be empty
    // Runs with the lock in place of completion when it returns true: the operation is then completed by finish().
    std::function<bool()> continued;
    lane where = lane::device;
    // The context's: once it is set, bodies are left out, but for those that are to run in any case.
    std::shared_ptr<std::atomic<CUresult>> fault;
    bool in_any_case = false;
    std::chrono::microseconds duration{0};

    bool done = false;
    steady::time_point end;
    // Below: the scheduler's own.
    unsigned open = 0;
    std::uint64_t number = 0;
    steady::time_point due;
    std::vector<operation_ptr> next;
};

class scheduler {
  public:
    scheduler(std::mutex& lock, std::condition_variable& progress) : lock_(lock), progress_(progress) {}

    void configure(std::chrono::microseconds callback_delay, std::uint64_t seed);

    // All with the lock held.
    void submit(operation_ptr const& work, std::vector<operation_ptr> const& after);
    void finish(operation_ptr const& work);
    // Starts nothing any more and waits for device bodies that run; a callback that runs is left alone.
    void stop(std::unique_lock<std::mutex>& held);

  private:
    struct earlier {
        bool operator()(operation_ptr const& a, operation_ptr const& b) const {
            return a->due != b->due ? a->due < b->due : a->number < b->number;
        }
    };
    struct queue {
        std::set<operation_ptr, earlier> waiting;
        std::condition_variable filled;
        unsigned threads = 0, running = 0;
    };

    queue& of(lane where) {
        return where == lane::device ? device_ : where == lane::callback ? callback_ : destructor_;
    }
    void enqueue(operation_ptr const& work, std::chrono::microseconds delay);
    void start_thread(queue& from, lane where);
    void serve(lane where);
    operation_ptr take(queue& from, std::unique_lock<std::mutex>& held);
    void run(operation_ptr const& work, std::unique_lock<std::mutex>& held);

    std::mutex& lock_;
    std::condition_variable& progress_;
    queue device_, callback_, destructor_;
    std::chrono::microseconds callback_delay_{0};
    std::mt19937_64 random_;
    bool shuffled_ = false;
    bool stopping_ = false;
    std::uint64_t submitted_ = 0;
};

}  // namespace lastref::simdriver
