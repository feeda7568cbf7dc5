// Whether a process lives, and what /proc says about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lastref::drain {

// Watches one process, told apart from later ones with the same number by its start time (field 22 of /proc/PID/stat).
// A process whose threads have all ended counts as dead even while its parent has not waited for it. Threads: one.
class process_watch {
  public:
    process_watch(std::uint32_t pid, std::uint64_t start_ticks);
    // The process that writes a spool. Numbers in a spool are those of its writer's own PID namespace: where they are
    // not ours, the process is looked for among those of other namespaces, by the spool that it has mapped.
    static process_watch of_writer(std::uint32_t pid, std::uint64_t start_ticks, std::uint64_t inode);
    process_watch(process_watch&& other) noexcept;
    process_watch& operator=(process_watch&&) = delete;
    ~process_watch();

    bool alive();
    std::uint32_t pid() const { return pid_; }
    // Do process and thread numbers in its spool mean the same here?
    bool same_numbers() const { return same_numbers_; }
    // Has it called exec since we watch it? Cheap; false where the system does not say.
    bool image_changed() const;
    // Is the spool with this inode mapped into it? After exec the memory of the former program is gone. True where that
    // can't be found out.
    bool maps(std::uint64_t inode) const;

  private:
    std::uint32_t pid_;
    std::uint64_t start_ticks_;
    int pidfd_ = -1;
    std::uint64_t start_stack_ = 0;
    bool alive_ = true;
    bool same_numbers_ = true;
};

struct process_stat {
    char state;
    std::uint64_t start_ticks;
    std::uint64_t start_stack;  // where its stack begins, another place after every exec; 0 where that is not told
};
std::optional<process_stat> read_process_stat(std::uint32_t pid);
// Is there a process whose environment names this folder for its spools, and which has the driver loaded? It may have
// no spool yet: a forked child makes one at its first call.
bool any_may_spool_to(std::filesystem::path const& folder);
// The name that the thread has now; empty where it is gone.
std::optional<std::string> read_thread_name(std::uint32_t pid, std::uint32_t tid);
// True where that can't be found out.
bool thread_exists(std::uint32_t pid, std::uint32_t tid);

}  // namespace lastref::drain
