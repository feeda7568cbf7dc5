// What the test programs share: facts on standard output, and a wait for what the driver does later.
//
// A program prints only what is the same in every run, so that its output with and without lastref can be compared byte
// by byte: no addresses, no times, no counts that depend on scheduling.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace lastref::gpu_test {

inline bool all_as_expected = true;

// One line a fact: "name: value".
inline void fact(char const* name, long long value) {
    std::printf("%s: %lld\n", name, value);
}

// A fact that must hold: where it does not, the program ends with status 1.
inline void expect(char const* name, bool holds) {
    std::printf("%s: %s\n", name, holds ? "yes" : "NO");
    all_as_expected = all_as_expected && holds;
}

// No API waits for a user object's destructor, and it may run after the stream has synchronized: give it `limit`.
inline bool reaches(std::atomic<int> const& counter, int wanted, std::chrono::seconds limit = std::chrono::seconds{5}) {
    auto const deadline = std::chrono::steady_clock::now() + limit;
    while (counter.load() < wanted) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

// Payloads and callbacks count here; plain atomics, since the driver forbids CUDA calls in both.
inline std::atomic<int> payloads_destroyed{0};
inline std::atomic<int> callbacks_run{0};

}  // namespace lastref::gpu_test
