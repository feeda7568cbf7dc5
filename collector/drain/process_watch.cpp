#include "collector/drain/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace lastref::drain {
namespace {

std::string proc_path(std::uint32_t pid, std::string const& name) {
    return "/proc/" + std::to_string(pid) + "/" + name;
}

// Some file systems show another device here than fstat does, so the inode and the name must do.
bool maps_spool(std::istream& maps, std::uint64_t inode) {
    std::string line;
    while (std::getline(maps, line)) {
        std::uint64_t number = 0;
        if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %" SCNu64, &number) == 1 && number == inode &&
            line.find(".spool") != std::string::npos)
            return true;
    }
    return false;
}

// Few processes are in other namespaces, so this is a matter of reading links.
std::optional<std::uint32_t> find_in_other_namespaces(std::uint64_t inode) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::path const ours = fs::read_symlink("/proc/self/ns/pid", failed);
    for (auto const& entry : fs::directory_iterator("/proc", failed)) {
        auto const pid = static_cast<std::uint32_t>(std::strtoul(entry.path().filename().c_str(), nullptr, 10));
        if (pid == 0) continue;
        std::error_code unknown;
        fs::path const its = fs::read_symlink(entry.path() / "ns/pid", unknown);
        if (unknown || its == ours) continue;
        std::ifstream maps(entry.path() / "maps");
        if (maps_spool(maps, inode)) return pid;
    }
    return std::nullopt;
}

std::string read_whole(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

bool has_variable(std::string const& environment, std::string const& variable) {
    std::size_t const at = environment.find(variable + '\0');
    return at == 0 || (at != std::string::npos && environment[at - 1] == '\0');
}

bool one_may_spool_to(std::filesystem::path const& folder) {
    std::error_code failed;
    std::string const variable = "LASTREF_SPOOL_DIR=" + folder.string();
    for (auto const& entry : std::filesystem::directory_iterator("/proc", failed)) {
        if (std::strtoul(entry.path().filename().c_str(), nullptr, 10) == 0) continue;
        if (has_variable(read_whole(entry.path() / "environ"), variable) &&
            read_whole(entry.path() / "maps").find("/libcuda.so") != std::string::npos)
            return true;
    }
    return false;
}

}  // namespace

// A daemon forks and ends, and its child forks and ends: who was forked after the names were read, by one that had
// ended when its turn came, is missed. A second look finds the child.
bool any_may_spool_to(std::filesystem::path const& folder) {
    return one_may_spool_to(folder) || one_may_spool_to(folder);
}

std::optional<process_stat> read_process_stat(std::uint32_t pid) {
    std::ifstream file(proc_path(pid, "stat"));
    std::string text;
    if (!std::getline(file, text)) return std::nullopt;
    // The second field is the program's name in brackets, and may itself hold blanks and brackets.
    auto const bracket = text.rfind(')');
    if (bracket == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(bracket + 1));
    process_stat stat{};
    std::string skipped;
    fields >> stat.state;
    for (int field = 4; field < 22; ++field) fields >> skipped;
    if (!(fields >> stat.start_ticks)) return std::nullopt;
    for (int field = 23; field < 28; ++field) fields >> skipped;
    fields >> stat.start_stack;
    return stat;
}

std::optional<std::string> read_thread_name(std::uint32_t pid, std::uint32_t tid) {
    std::ifstream file(proc_path(pid, "task/" + std::to_string(tid) + "/comm"));
    std::string name;
    if (!std::getline(file, name) || name.empty()) return std::nullopt;
    return name;
}

bool thread_exists(std::uint32_t pid, std::uint32_t tid) {
    return access(proc_path(pid, "task/" + std::to_string(tid)).c_str(), F_OK) == 0 || errno != ENOENT ||
           access(proc_path(pid, "stat").c_str(), F_OK) != 0;
}

process_watch::process_watch(std::uint32_t pid, std::uint64_t start_ticks) : pid_(pid), start_ticks_(start_ticks) {
    // The descriptor first, then the start time: if that fits, the descriptor is the right process's.
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0u));
    auto const stat = read_process_stat(pid);
    alive_ = stat && stat->start_ticks == start_ticks;
    if (alive_) start_stack_ = stat->start_stack;
}

process_watch process_watch::of_writer(std::uint32_t pid, std::uint64_t start_ticks, std::uint64_t inode) {
    process_watch by_number(pid, start_ticks);
    if (by_number.alive_) return by_number;
    auto const elsewhere = find_in_other_namespaces(inode);
    auto const stat = elsewhere ? read_process_stat(*elsewhere) : std::nullopt;
    if (!stat) return by_number;
    process_watch found(*elsewhere, stat->start_ticks);
    found.same_numbers_ = false;
    return found;
}

bool process_watch::image_changed() const {
    auto const stat = read_process_stat(pid_);
    return stat && stat->start_ticks == start_ticks_ && start_stack_ > 1 && stat->start_stack > 1 &&
           stat->start_stack != start_stack_;
}

process_watch::process_watch(process_watch&& other) noexcept
    : pid_(other.pid_),
      start_ticks_(other.start_ticks_),
      pidfd_(std::exchange(other.pidfd_, -1)),
      start_stack_(other.start_stack_),
      alive_(other.alive_),
      same_numbers_(other.same_numbers_) {}

process_watch::~process_watch() {
    if (pidfd_ >= 0) close(pidfd_);
}

bool process_watch::alive() {
    if (!alive_) return false;
    if (pidfd_ >= 0) {
        pollfd ended{pidfd_, POLLIN, 0};
        alive_ = poll(&ended, 1, 0) == 0;
    } else {
        auto const stat = read_process_stat(pid_);
        alive_ = stat && stat->start_ticks == start_ticks_ && stat->state != 'Z' && stat->state != 'X';
    }
    return alive_;
}

bool process_watch::maps(std::uint64_t inode) const {
    std::ifstream file(proc_path(pid_, "maps"));
    return !file || maps_spool(file, inode);
}

}  // namespace lastref::drain
