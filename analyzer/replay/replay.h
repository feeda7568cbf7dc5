// A recorded trace's payload callbacks, fed through the reference deferred_cleanup_queue: what the program did beside
// what the reference would have done with the same callbacks.
#pragma once

#include "analyzer/findings/losses.h"
#include "analyzer/replay/samples.h"
#include "analyzer/store/trace.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lastref::replay {

// Whose driver calls are safe points of the reference, at their return: the process's main thread's, as an
// interpreter's pending calls have it, or those of every thread.
enum class consumer : std::uint8_t { main_thread, any_thread };

struct reference_side {
    std::uint64_t safe_points = 0;  // before exit handlers began
    std::uint64_t wakeups = 0;
    std::optional<spread> drains;  // items of each that found any; none: nothing was cleaned up
    std::optional<spread> delay;   // callback to clean-up, ns
    std::uint64_t most_waiting = 0;
    std::uint64_t left = 0;  // never cleaned up
    bool stopped = false;    // left at shutdown, on purpose; else the process ended some other way
};

// What was recorded of the program's own clean-ups: frees of memory that a payload stands for, after its destructor.
struct observed_side {
    std::uint64_t by_address = 0;   // callbacks whose payload is the memory's own address
    std::uint64_t by_nearness = 0;  // callbacks whose memory is inferred: allocated just before, same function
    std::uint64_t unknown = 0;      // callbacks whose clean-up cannot be seen
    std::optional<spread> drains;   // clean-ups of one thread in one go; none: there was no clean-up
    std::optional<spread> delay;    // begin of the destructor to begin of the free, ns
    std::uint64_t most_waiting = 0;
    std::uint64_t left = 0;  // destructor ran, memory never freed
    std::uint64_t left_bytes = 0;
    std::uint64_t gone_otherwise = 0;  // with their context, or by a call that was not recorded

    bool known() const { return by_address + by_nearness > 0; }
};

struct process_replay {
    store::process_id process;
    std::uint64_t callbacks = 0;
    std::uint64_t producers = 0;  // threads that ran them
    observed_side observed;
    reference_side reference;
};

struct outcome {
    std::vector<process_replay> processes;  // those with payload callbacks
    std::vector<std::string> incomplete;    // reasons, as in a report; empty for a complete trace
};

// Throws store::error. `progress` is given the share that is done, 0 to 1.
outcome replay(store::trace const& trace, consumer who, std::function<void(double)> const& progress = {});

}  // namespace lastref::replay
