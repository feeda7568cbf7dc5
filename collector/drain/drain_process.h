// The drain as a process of its own, beside the recorder.
//
// Two reasons: if the recorder is killed, the drain goes on and finishes the trace; and if the drain is killed (by the
// system, short of memory), the recorder can start another, which goes on where it stopped.
//
// The drain stays in the recorder's process group with every signal blocked. That makes it a witness: what reached it
// too was sent to the whole group, and so to the program, and need not be passed on.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collector/drain/drain_loop.h"
#include "collector/drain/program_launch.h"
#include "collector/drain/trace_file.h"

namespace lastref::drain {

// What the drain tells the recorder; one write each, so it arrives whole.
struct drain_message {
    enum class kind : std::uint32_t { ready, failed, progress, done } what;
    std::uint64_t calls, processes, unfinished, losses, records;
    char text[512];  // why it failed; of `done`: why the trace could not be written to the end
};

// What the recorder tells the drain.
struct recorder_message {
    enum class kind : std::uint32_t { ended, hurry } what;
    std::int32_t wait_status;  // of `ended`
};

// How often each signal reached the group. Shared with the drain.
struct group_signals {
    std::array<std::atomic<std::uint32_t>, 65> seen{};
};

struct drain_settings {
    std::filesystem::path folder;
    pid_t program;
    std::chrono::milliseconds grace;  // for processes that outlive the program
};

// Threads: one.
class drain_process {
  public:
    // `in_child` runs in the new process first, to let go of what it need not hold. The claim must be held by the
    // caller as long as the process runs.
    drain_process(trace_claim& claim, drain_settings const& settings, std::function<void()> const& in_child);
    ~drain_process();
    drain_process(drain_process const&) = delete;
    drain_process& operator=(drain_process const&) = delete;

    pid_t pid() const { return pid_; }
    int messages() const { return from_.get(); }
    // The next message; empty when the process is gone without having said more.
    std::optional<drain_message> receive();
    void send(recorder_message const& message);
    // How often the signal has reached the group.
    std::uint32_t group_signals_seen(int signal) const {
        return shared_->seen[static_cast<std::size_t>(signal)].load();
    }

  private:
    struct unmapper {
        void operator()(group_signals* shared) const;
    };
    std::unique_ptr<group_signals, unmapper> shared_;
    descriptor to_, from_;
    pid_t pid_ = -1;
};

}  // namespace lastref::drain
