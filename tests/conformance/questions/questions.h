// Questions to a driver, real or simulated. Each group asks what belongs together; every answer is a line `question =
// answer` without addresses and times. Where a question is asked again in its group, the order tells the two apart.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

namespace lastref::conformance {

// Groups of one family that do not stand alone are asked in one process, each on a thread of its own: making a context
// takes a real driver a quarter of a second. Alone stand those that crash, exit, fork, or look at what a process
// shares.
struct group {
    char const* name;
    void (*ask)();
    bool alone = false;
};
inline constexpr bool alone = true;

// Writes one line at once. Any thread; also from a forked child.
void answer(char const* question, std::string const& value);

inline void ask(char const* question, CUresult result) {
    answer(question, std::to_string(static_cast<int>(result)));
}
inline void ask(char const* question, bool value) {
    answer(question, value ? "yes" : "no");
}
inline void ask_number(char const* question, long long value) {
    answer(question, std::to_string(value));
}
inline void ask_text(char const* question, std::string const& value) {
    answer(question, value);
}

// The expression is the question.
#define ASK(expression) ::lastref::conformance::ask(#expression, expression)

// Initialises, makes the first device's primary context current and returns it.
CUcontext start();
CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING);

template <class Work>
void elsewhere(Work work) {
    std::thread(std::move(work)).join();
}

// As elsewhere, with the context current there.
template <class Work>
void elsewhere_in(CUcontext context, Work work) {
    elsewhere([&] {
        cuCtxSetCurrent(context);
        work();
    });
}

inline void settle(int milliseconds = 20) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Waits until the counter has reached `wanted`, two seconds at most, and a little longer for what should not follow.
inline int eventually(std::atomic<int> const& counter, int wanted) {
    for (int tries = 0; counter < wanted && tries < 1000; ++tries) settle(2);
    settle();
    return counter;
}

// A stream's work held up until the gate opens: by itself after `patience`, so that a call that waits for the work
// ends.
class gate {
  public:
    explicit gate(CUstream stream, std::chrono::milliseconds patience = std::chrono::milliseconds(600));
    ~gate();
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    void open();
    // Whether nothing has opened it yet: what has happened so far has happened in spite of it.
    bool closed() const;

  private:
    unsigned volatile* word_ = nullptr;
    std::atomic<bool> dismissed_{false};
    std::thread watchdog_;
};

// A word that work of a stream sets.
class mark {
  public:
    mark();
    CUresult set_by(CUstream stream);
    bool set() const;
    // Whether it is set soon, in spite of what holds other work up.
    bool set_soon(int milliseconds = 150) const;

  private:
    unsigned volatile* word_ = nullptr;
};

// An unsigned of pinned memory, zero at first, at the same address for the device.
unsigned volatile* pinned_word();

// The groups, each defined in the file of its family.
extern group const context_groups[], device_groups[], stream_groups[], ordering_groups[], memory_groups[],
    pool_groups[], graph_groups[], update_groups[], conditional_groups[], user_object_groups[], destructor_groups[],
    capture_groups[], capture_mode_groups[], module_groups[], process_groups[], exit_groups[], lookup_groups[],
    per_thread_groups[];

}  // namespace lastref::conformance
