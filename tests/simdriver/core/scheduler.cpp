#include "tests/simdriver/core/scheduler.h"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "tests/simdriver/core/thread_state.h"

namespace lastref::simdriver {
namespace {

constexpr unsigned device_threads = 3;
constexpr std::chrono::microseconds poll_interval{20};

// Internal threads must not take the program's signals.
struct signals_blocked {
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    sigset_t before;
};

char const* name_of(lane where) {
    switch (where) {
        case lane::device:
            return "cuda-sim-device";
        case lane::callback:
            return "cuda-EvtHandlr";
        default:
            return "cuda-sim-destroy";
    }
}

}  // namespace

void scheduler::configure(std::chrono::microseconds callback_delay, std::uint64_t seed) {
    callback_delay_ = callback_delay;
    shuffled_ = seed != 0;
    random_.seed(seed);
}

void scheduler::submit(operation_ptr const& work, std::vector<operation_ptr> const& after) {
    work->number = ++submitted_;
    for (auto const& earlier_work : after) {
        if (!earlier_work || earlier_work->done) continue;
        earlier_work->next.push_back(work);
        ++work->open;
    }
    if (!work->open) enqueue(work, work->duration);
}

void scheduler::enqueue(operation_ptr const& work, std::chrono::microseconds delay) {
    if (work->where != lane::device) delay += callback_delay_;
    if (shuffled_) delay += std::chrono::microseconds(random_() % 50);
    work->due = steady::now() + delay;
    queue& target = of(work->where);
    unsigned const wanted = work->where == lane::device ? device_threads : 1;
    if (target.threads < wanted && !stopping_) start_thread(target, work->where);
    target.waiting.insert(work);
    target.filled.notify_all();
}

void scheduler::start_thread(queue& from, lane where) {
    signals_blocked const guard;
    std::thread thread([this, where] { serve(where); });
    pthread_setname_np(thread.native_handle(), name_of(where));
    thread.detach();
    ++from.threads;
}

void scheduler::serve(lane where) {
    if (where != lane::device) this_thread().internal = true;
    std::unique_lock held(lock_);
    while (operation_ptr const work = take(of(where), held)) run(work, held);
}

operation_ptr scheduler::take(queue& from, std::unique_lock<std::mutex>& held) {
    while (!stopping_) {
        if (from.waiting.empty()) {
            from.filled.wait(held);
            continue;
        }
        operation_ptr const first = *from.waiting.begin();
        if (first->due <= steady::now()) {
            from.waiting.erase(from.waiting.begin());
            return first;
        }
        from.filled.wait_until(held, first->due);
    }
    return nullptr;
}

void scheduler::run(operation_ptr const& work, std::unique_lock<std::mutex>& held) {
    queue& from = of(work->where);
    ++from.running;
    held.unlock();
    bool const left_out = work->fault && *work->fault != CUDA_SUCCESS && !work->in_any_case;
    bool const ready = left_out || !work->ready || work->ready();
    if (ready && work->body && !left_out) work->body();
    held.lock();
    --from.running;
    if (!ready)
        enqueue(work, poll_interval);
    else if (!work->continued || !work->continued())
        finish(work);
    if (stopping_) progress_.notify_all();
}

void scheduler::finish(operation_ptr const& work) {
    work->done = true;
    work->end = steady::now();
    for (auto const& follower : std::exchange(work->next, {}))
        if (--follower->open == 0) enqueue(follower, follower->duration);
    work->body = nullptr;
    if (auto const completed = std::exchange(work->completed, nullptr)) completed();
    work->continued = nullptr;
    progress_.notify_all();
}

void scheduler::stop(std::unique_lock<std::mutex>& held) {
    stopping_ = true;
    device_.filled.notify_all();
    callback_.filled.notify_all();
    destructor_.filled.notify_all();
    progress_.wait(held, [this] { return device_.running == 0; });
}

}  // namespace lastref::simdriver
