// Questions to a driver, real or simulated. Each group of questions runs in a process of its own, so that one that
// crashes takes only the rest of its group along; every answer is a line `group: question = answer` without addresses
// and times.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace lastref::probe {

struct group {
    char const* name;
    void (*ask)();
};

// Writes one line; known to the group that runs.
void answer(char const* question, long long value);

inline void ask(char const* question, CUresult result) {
    answer(question, result);
}
inline void ask(char const* question, bool value) {
    answer(question, value);
}
inline void ask_number(char const* question, long long value) {
    answer(question, value);
}

// The expression is the question.
#define ASK(expression) ::lastref::probe::ask(#expression, expression)

// Initialises, makes the first device's primary context current and returns it.
CUcontext start();
CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING);

template <class Work>
void elsewhere(Work work) {
    std::thread(work).join();
}

inline void settle() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// The groups, each defined in the file of its family.
extern group const context_groups[], stream_groups[], memory_groups[], graph_groups[], capture_groups[],
    lookup_groups[];

}  // namespace lastref::probe
